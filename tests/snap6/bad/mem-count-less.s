# byte 1094: two segments where the count says one: the second is no header
"process snapshot\n"
record 10 mem
number 1
segment 4096 1024
r a
segment 8192 1024
r b
record 10 status
data "hello"
