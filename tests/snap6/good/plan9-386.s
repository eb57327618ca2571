# Two processes as Bell Labs' snap writes them: left-justified, kregs, a segment that could not be read as 0 0.
"process snapshot 1017431234 ann@gnot 386 1015931522 \"pcdisk\"\n"
justify left
record 23 segment
data {
"Stack     dfffb000 dffff000    1\n"
"Text   R  00001000 00002000    2\n"
"Data      00002000 00003000    1\n"
"Phys      e0000000 e0001000    1\n"
"Bss       00003000 00004000    1\n"
}
record 23 fd
data {
"/usr/ann\n"
"  0 r  M   12 (0000000000001a2b   7 00)  8192      512 /usr/ann/notes\n"
"  1 w  c    0 (0000000000000002   0 00)     0      131 /dev/cons\n"
}
record 23 fpregs
data fp23 532
record 23 kregs
data k23 76
record 23 noteid
data "         23 "
record 23 ns
data {
"bind  / /\n"
"mount -bc /srv/term /n/term \n"
"cd /usr/ann\n"
}
record 23 proc
data proc23 812
record 23 regs
data u23 76
record 23 status
data {
"tickd                       ann                         Rendez      "
"         40          10       93000           0           0           0"
"        1184          10          10 "
}
record 23 text
segment 0 2600
r text0
r text1
r text2 552
record 23 mem
number 5
segment 0xdfffe800 2048         # stack
r stack0
z
segment 0x1000 4096             # text
t 23 0
t 23 1024
r texttail
z
segment 0x2000 4096             # data
r data0
z
r data2
m 23 0x2000
segment 0 0                     # Phys could not be read
segment 0x3000 1024             # bss
z
record 31 segment
data {
"Stack     dfffb000 dffff000    1\n"
"Text   R  00001000 00002000    2\n"
"Data      00002000 00003000    1\n"
}
record 31 kregs
data k31 76
record 31 noteid
data "         23 "
record 31 regs
data u31 76
record 31 status
data {
"tickd                       ann                         Pread       "
"          0           0       92870           0           0           0"
"        1184          10          10 "
}
record 31 text
segment 0 2600
t 23 0
t 23 1024
t 23 2048
record 31 mem
number 3
segment 0xdfffe800 2048
r stack31
z
segment 0x1000 4096
t 23 0
t 23 1024
m 23 0x1800
z
segment 0x2000 4096
m 23 0x2000
r data1.31
m 23 0x2800
m 31 0x2400
