# References that follow one another, to pages that do: one of these is hidden by a later section, some are references or zeros themselves, and the last is short.
"process snapshot\n"
record 10 mem
number 3
segment 0x1000 6144
r a0
r a1
r a2
r a3
r a4
r a5
segment 0x3000 5120
m 10 0x1800                     # a2
m 10 0x1000                     # a0
m 10 0x1400                     # a1
r b0
z
segment 0x5000 2548
r d0
r d1
r d2 500
record 10 mem
number 1
segment 0x1800 1024
r c0
record 11 mem
number 4
segment 0x1000 6144
m 10 0x1000                     # a0
m 10 0x1400                     # a1
m 10 0x1800                     # c0
m 10 0x1c00                     # a3
m 10 0x2000                     # a4
m 10 0x2400                     # a5
segment 0x3000 5120
m 10 0x3000                     # a2
m 10 0x3400                     # a0
m 10 0x3800                     # a1
m 10 0x3c00                     # b0
m 10 0x4000                     # zero
segment 0x5000 2548
m 10 0x5000
m 10 0x5400
m 10 0x5800
segment 0x7000 3072
m 10 0x2000                     # a4
m 10 0x2400                     # a5
m 10 0x1000                     # a0
