# A trailer with an index: empty segments, references, a short page, another record type.
"process snapshot 1735689600 ann@gnot amd64 1735000000 \"Linux 6.12\"\n"
record 10 noteid
data "         10 "
record 10 proc
data {
"linux amd64 1\n"
"comm\n"
data "one\n"
"maps\n"
data "00001000-00008000 rw-p 00000000 00:00 0\n00020000-00022c00 rw-p 00000000 00:00 0\n"
}
record 10 unheard
data "of"
record 10 text
segment 0 1500
r a
r short 476
record 10 mem
number 5
segment 0 0
segment 0x1000 28672
r b 1024
r c
r d
r e
r f
r g
r h
r i
r j
r k
r l
r m
r n
r o
r p
r q
z 8
m 10 0x1000
m 10 0x1400
m 10 0x1800
t 10 0
segment 0 0
segment 0x20000 11264
r B
r C
r D
r E
r F
r G
r H
r I
r J
r K
r L
segment 0 0
record 11 mem
number 2
segment 0x1000 2048
m 10 0x20000
m 10 0x20400
segment 0xfffffffffffff800 2048
m 10 0x1800
r M
trailer
