# A process as 9front writes it: addresses of 15 digits, status with a newline, fpregs with the AVX halves.
"process snapshot 1711540000 glenda@cirno amd64 1711530000 \"cirno\"\n"
justify left
record 1042 segment
data {
"Stack     7ffffeffe000 7fffffffe000    1\n"
"Text   R    200000   231000    2\n"
"Data        231000   23a000    1\n"
}
record 1042 fd
data {
"/usr/glenda\n"
"  0 r  M   12 (0000000000001a2b 7 00)  8192      512 '/usr/glenda/my notes'\n"
}
record 1042 fpregs
data fp1042 832
record 1042 kregs
data k1042 184
record 1042 noteid
data "       1042 "
record 1042 ns
data {
"bind  / /\n"
"mount -C '#s/boot' /root\n"
"cd /usr/glenda\n"
}
record 1042 proc
data proc1042 1500
record 1042 regs
data u1042 184
record 1042 status
data {
"rio                         glenda                      Rendez      "
"         40          10       93000           0           0           0"
"        1184          10          10\n"
}
record 1042 text
segment 0 1536
r text0
r text1 512
record 1042 mem
number 3
segment 0x7fffffffc000 8192
z 6
r stack6
r stack7
segment 0x200000 2048
t 1042 0
r texttail
segment 0x231000 3072
r data0
m 1042 0x7fffffffd800
m 1042 0x231000
