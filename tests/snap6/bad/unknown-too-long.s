# byte 17: a record of unknown type that says it is longer than the input
"process snapshot\n"
record 10 args
number 6
"hello"
