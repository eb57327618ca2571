# A text in two sections with a hole; t counts from the beginning of the first.
"process snapshot\n"
justify left
record 10 text
segment 0 2048
r a
r b
record 10 text
segment 4096 2048
t 10 1024
r c
record 10 mem
number 1
segment 0x10000 4096
t 10 0
t 10 4096
t 10 5120
z
