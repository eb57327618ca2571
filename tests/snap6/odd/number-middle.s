# byte 33: a number neither left- nor right-justified
"process snapshot\n"
record 10 mem
"      1     "
segment 4096 1024
r a
