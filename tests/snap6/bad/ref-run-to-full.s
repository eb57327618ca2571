# byte 5293: references that follow one another, to full pages, of which the last is short
"process snapshot\n"
record 10 mem
number 2
segment 0x1000 5120
r a0
r a1
r a2
r a3
r a4
segment 0x3000 3572
m 10 0x1000
m 10 0x1400
m 10 0x1800
m 10 0x1c00
