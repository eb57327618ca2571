# byte 69: a page of zeros written raw
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r "\0"*1024
z
