# byte 59: the input ends inside the number of a header
"process snapshot\n"
record 10 status
data "x"
"         1"
