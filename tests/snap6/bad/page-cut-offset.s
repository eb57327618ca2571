# byte 1118: the input ends behind the digits of a reference
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r a
"m"
number 10
"       4096"
