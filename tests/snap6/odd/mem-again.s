# byte 1094: a second mem section
"process snapshot\n"
record 10 mem
number 1
segment 4096 1024
r a
record 10 mem
number 1
segment 8192 1024
r b
