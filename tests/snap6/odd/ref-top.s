# byte 2152: a reference into a segment that ends at 2^64, where Plan 9 finds nothing
"process snapshot\n"
record 10 mem
number 2
segment 0xfffffffffffff800 2048
r a
r b
segment 4096 2048
m 10 0xfffffffffffffc00
z
