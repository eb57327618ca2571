# A reference from a second mem section into the first.
"process snapshot\n"
justify left
record 10 mem
number 1
segment 4096 1024
r a
record 10 mem
number 1
segment 8192 2048
m 10 4096
z
