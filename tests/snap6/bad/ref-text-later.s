# byte 101: a t reference to a text that comes behind the memory
"process snapshot\n"
record 10 status
data "x"
record 10 mem
number 1
segment 4096 1024
t 10 0
record 10 text
segment 0 1024
r a
