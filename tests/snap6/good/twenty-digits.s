# -c: An address of 20 digits, as a segment's base and in a reference.
"process snapshot\n"
record 10 mem
number 2
segment 0xffffffffff600000 2048
r a
m 10 18446744073699065856
segment 4096 2048
m 10 0xffffffffff600000
z
