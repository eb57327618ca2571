# byte 1094: text behind mem
"process snapshot\n"
record 10 mem
number 1
segment 4096 1024
r a
record 10 text
segment 0 1024
r b
