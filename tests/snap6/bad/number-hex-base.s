# byte 51: hexadecimal in a segment's base
"process snapshot\n"
record 10 mem
number 1
"     0"
"x1000 "
number 1024
r a
