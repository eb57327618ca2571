# byte 45: an empty segment in front of another
"process snapshot\n"
record 10 mem
number 2
segment 8192 0
segment 4096 1024
r a
