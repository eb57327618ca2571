# byte 1094: a short page that refers to a full one
"process snapshot\n"
record 10 mem
number 1
segment 4096 1500
r a
m 10 4096
