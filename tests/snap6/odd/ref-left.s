# byte 1107: the offset of a reference left-justified
"process snapshot\n"
record 10 mem
number 1
segment 4096 3072
r a
"m"
number 10
left 4096
z
