# byte 94: a full page that refers to a short one of zeros
"process snapshot\n"
record 10 mem
number 2
segment 4096 100
z
segment 8192 1024
m 10 4096
