# A second text section with a lower base: t 0 is the base of the first one.
"process snapshot\n"
justify left
record 10 text
segment 0x3000 1024
r a
record 10 text
segment 0x1000 2048
r b
t 10 0
record 10 mem
number 1
segment 0x1000 2048
t 10 0
z
