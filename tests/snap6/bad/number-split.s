# byte 54: a blank among the digits
"process snapshot\n"
record 10 mem
number 1
"       4 "
"09 "
number 1024
r a
