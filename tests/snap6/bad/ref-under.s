# byte 5267: a reference to a segment that lies under another, into the middle of a page of that one
"process snapshot\n"
justify left
record 10 mem
number 3
segment 0x1000 4096
r a0
r a1
r a2
r a3
segment 0x1500 1024
r b0
segment 0x4000 4096
m 10 0x1000                     # a0
m 10 0x1500                     # b0 is not seen
m 10 0x1c00                     # a3
z
