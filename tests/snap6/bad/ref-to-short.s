# byte 1595: a full page that refers to a short one
"process snapshot\n"
record 10 mem
number 2
segment 4096 1500
r a
r b 476
segment 8192 2048
m 10 5120
z
