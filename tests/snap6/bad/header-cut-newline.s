# byte 35: the input ends before the newline of a header
"process snapshot\n"
right 10
"status"
