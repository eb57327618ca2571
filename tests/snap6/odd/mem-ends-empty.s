# byte 1094: a mem section that ends in an empty segment
"process snapshot\n"
record 10 mem
number 2
segment 4096 1024
r a
segment 0 0
