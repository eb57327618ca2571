# byte 1094: a short last page of zeros written raw
"process snapshot\n"
record 10 mem
number 1
segment 4096 1025
r a
r "\0"
