# byte 1094: a reference to process 2^32 + 11, which is 11 in 32 bits
"process snapshot\n"
record 11 mem
number 1
segment 4096 2048
r a
m 4294967307 4096
