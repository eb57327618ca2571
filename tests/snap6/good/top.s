# -c: A segment that ends exactly at 2^64, its last page short of nothing.
"process snapshot\n"
record 10 mem
number 1
segment 0xfffffffffffff800 2048
r a
r b
