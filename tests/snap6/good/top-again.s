# -c: A page written raw again, since Plan 9 finds no page of a segment that ends at 2^64.
"process snapshot\n"
record 10 mem
number 3
segment 0xfffffffffffff800 2048
r a
r b
segment 4096 2048
r b
r a
segment 16384 3072
m 10 4096
r c
z
