# -c: Segments that touch and do not overlap, out of order.
"process snapshot\n"
record 10 mem
number 3
segment 0x2000 1024
r a
segment 0x2400 1500
r b
r c 476
segment 0x1c00 1024
r d
