# byte 65: the input ends inside the name of a header
"process snapshot\n"
record 10 status
data "x"
right 10
"stat"
