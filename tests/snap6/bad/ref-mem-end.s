# byte 1595: a reference to the byte behind a short page
"process snapshot\n"
record 10 mem
number 2
segment 4096 1500
r a
r b 476
segment 8192 476
m 10 5596
