# byte 17: a header without a record type
"process snapshot\n"
right 10
"\n"
data "x"
