# byte 17: a record type that is not ASCII
"process snapshot\n"
right 10
"unh\xe9ard\n"
data "x"
