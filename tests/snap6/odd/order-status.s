# byte 1094: a file behind mem
"process snapshot\n"
record 10 mem
number 1
segment 4096 1024
r a
record 10 status
data "x"
