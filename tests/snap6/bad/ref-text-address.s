# byte 1135: a t reference by address to a text that does not begin at 0
"process snapshot\n"
record 10 text
segment 0x400000 1024
r a
record 10 mem
number 1
segment 4096 1024
t 10 0x400000
