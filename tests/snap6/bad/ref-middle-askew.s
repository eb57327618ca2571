# byte 2143: a reference to a multiple of 1024 in a segment that does not begin at one
"process snapshot\n"
record 10 mem
number 2
segment 4608 2048
r a
r b
segment 8192 1024
m 10 5120
