# A page that is the same as what an earlier segment has at its own address, over which that one lies.
"process snapshot\n"
justify left
record 10 mem
number 2
segment 0x1000 2048
r a0
r a1
segment 0x1000 2048
m 10 0x1400                     # a1
m 10 0x1400                     # a1: itself is not described yet
