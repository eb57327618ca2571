# Last pages that are short: raw, zeros, references from equally short ones.
"process snapshot\n"
record 10 text
segment 0 1500
r a
r b 476
record 10 mem
number 6
segment 0x1000 1025
r c
r d 1
segment 0x2000 1500
z
t 10 1024                       # b, of 476 bytes
segment 0x3000 1
z
segment 0x4000 1
m 10 0x3000
segment 0x5000 1023
r e 1023
segment 0x6000 1025
m 10 0x1000
r f 1
