# byte 3744: references that follow one another, the last of which is to a short page
"process snapshot\n"
record 10 mem
number 2
segment 0x1000 3572
r a0
r a1
r a2
r a3 500
segment 0x3000 5120
m 10 0x1000
m 10 0x1400
m 10 0x1800
m 10 0x1c00
z
