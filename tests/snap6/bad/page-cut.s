# byte 1082: the input ends inside a raw page
"process snapshot\n"
record 10 text
segment 0 1024
r a 1023
