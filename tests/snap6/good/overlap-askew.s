# A segment a quarter of a page askew over another: a reference is to a whole page of the segment that counts at its address, though another lies over a part of it.
"process snapshot\n"
justify left
record 10 mem
number 3
segment 0x1500 1024
r b0
segment 0x1000 4096
r a0
r a1
r a2
r a3
segment 0x4000 5120
m 10 0x1000                     # a0
m 10 0x1500                     # b0
m 10 0x1400                     # a1
m 10 0x1c00                     # a3
z
