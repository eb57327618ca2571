# byte 1119: a reference to a reference
"process snapshot\n"
record 10 mem
number 1
segment 4096 4096
r a
m 10 4096
m 10 5120
z
