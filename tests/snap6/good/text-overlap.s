# A text section over part of an earlier one.
"process snapshot\n"
justify left
record 10 text
segment 0 3072
r a0
r a1
r a2
record 10 text
segment 1024 1024
r b0
record 10 mem
number 1
segment 4096 4096
t 10 0
t 10 1024
t 10 2048
z
