# byte 194: a short page that refers to a shorter one
"process snapshot\n"
record 10 mem
number 2
segment 4096 100
r a 100
segment 8192 101
m 10 4096
