# byte 1094: a page written raw a second time, the last of its segment but not of its section
"process snapshot\n"
record 10 mem
number 2
segment 4096 2048
r a
r a
segment 8192 1024
z
