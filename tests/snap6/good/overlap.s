# Segments that overlap: the later section counts, in a section the first segment, page by page; what was referred to before stays.
"process snapshot\n"
justify left
record 10 mem
number 2
segment 0x1000 3072
r a0
r a1
r a2
segment 0x3000 1024
m 10 0x1400                     # a1
record 10 mem
number 1
segment 0x1400 2048
r b0
m 10 0x1800                     # a2: b has not come so far
record 10 mem
number 3
segment 0x2000 2048
m 10 0x1400                     # b0
m 10 0x1800                     # a2, by way of b
segment 0x1c00 1024
r d0
segment 0x1800 1024
m 10 0x1c00                     # d0
