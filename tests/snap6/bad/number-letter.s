# byte 44: a letter behind the digits
"process snapshot\n"
record 10 mem
"          1"
"k"
segment 4096 1024
r a
