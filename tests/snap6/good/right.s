# -c: Everything right-justified, as the manual page says.
"process snapshot 0 ann@host 386 0 \"\"\n"
record 7 status
data "seven"
record 7 text
segment 0 1024
r text0
record 7 mem
number 2
segment 4096 2048
t 7 0
r data1
segment 8192 1024
z
record 2147483647 status
data "the last process id for Plan 9"
