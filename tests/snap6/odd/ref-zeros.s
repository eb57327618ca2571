# byte 70: a reference to a page of zeros
"process snapshot\n"
record 10 mem
number 1
segment 4096 3072
z
m 10 4096
z
