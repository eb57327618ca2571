# byte 2119: segments that overlap, of which Plan 9 takes the first and we the last
"process snapshot\n"
record 10 mem
number 2
segment 4096 2048
r a
r b
segment 5120 1024
r c
