# byte 69: a reference to a segment further on
"process snapshot\n"
record 10 mem
number 2
segment 4096 1024
m 10 8192
segment 8192 1024
r a
