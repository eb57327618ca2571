# Three mem sections of one process: the manual page has them add up, Plan 9 keeps the last.
"process snapshot\n"
record 10 mem
number 1
segment 4096 1024
r a
record 10 mem
number 2
segment 16384 1024
r b
segment 0 1024
z
record 10 status
data "between"
record 10 mem
number 1
segment 8192 1024
r c
