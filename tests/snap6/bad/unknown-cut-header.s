# byte 17: a record of unknown type with half a header behind it
"process snapshot\n"
record 10 args
data "hello"
"         10 stat"
