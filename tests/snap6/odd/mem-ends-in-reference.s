# byte 1094: a mem section that ends in a reference
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r a
m 10 4096
