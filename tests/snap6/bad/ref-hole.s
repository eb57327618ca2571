# byte 2167: a reference to an address between two segments
"process snapshot\n"
record 10 mem
number 3
segment 4096 1024
r a
segment 8192 1024
r b
segment 16384 1024
m 10 6144
