# byte 1120: a reference to the last byte of a segment
"process snapshot\n"
record 10 mem
number 2
segment 4096 1025
r a
r b 1
segment 8192 1
m 10 5119
