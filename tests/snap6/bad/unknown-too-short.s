# byte 17: a record of unknown type with more behind it than it says, which is no header
"process snapshot\n"
record 10 args
number 3
"hello"
record 10 status
data "x"
