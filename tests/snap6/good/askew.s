# -c: Segments that do not begin at a multiple of 1024; references count from where they begin.
"process snapshot\n"
record 10 mem
number 2
segment 0x1234 3072
r a
r b
m 10 0x1234
segment 0x8001 2048
m 10 0x1634
r c
record 11 mem
number 1
segment 4096 2048
m 10 0x8401
z
