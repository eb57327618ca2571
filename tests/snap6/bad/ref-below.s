# byte 1094: a reference to an address below the first segment
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r a
m 10 3072
