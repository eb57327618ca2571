# Memory before text, and a text that refers to the memory and to itself.
"process snapshot\n"
justify left
record 10 mem
number 1
segment 4096 1024
r a
record 10 text
segment 0 4096
m 10 4096
r b
t 10 1024
z
