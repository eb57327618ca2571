# byte 1194: the input ends inside a short raw page
"process snapshot\n"
record 10 mem
number 1
segment 4096 1124
r a
r b 99
