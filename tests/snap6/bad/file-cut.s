# byte 53: the input ends inside a file
"process snapshot\n"
record 10 status
number 6
"hello"
