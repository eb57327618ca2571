# Sections that end in a reference, right-justified headers behind them.
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r a
m 10 4096
record 10 text
segment 0 1024
m 10 4096
record 11 text
segment 0 1024
t 10 0
record 11 mem
number 1
segment 4096 1024
t 10 0
record 11 status
data "right"
