# byte 2201: a t reference between two text sections
"process snapshot\n"
record 10 text
segment 0 1024
r a
record 10 text
segment 4096 1024
r b
record 10 mem
number 1
segment 4096 1024
t 10 2048
