# byte 17: a record that Plan 9 does not know
"process snapshot\n"
record 10 args
data "x"
