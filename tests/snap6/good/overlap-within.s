# A short segment under the middle of a longer one, and a longer one under a short one.
"process snapshot\n"
justify left
record 10 mem
number 4
segment 0x1000 4096
r a0
r a1
r a2
r a3
segment 0x1400 1500
r b0
r b1 476
segment 0x9000 1024
r c0
segment 0x8c00 3072
r d0
m 10 0x9000                     # c0
m 10 0x8c00                     # d0
