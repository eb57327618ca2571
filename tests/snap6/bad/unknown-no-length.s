# byte 49: a record of unknown type that has no length
"process snapshot\n"
record 10 status
data "x"
record 10 kfpregs
"hello, world"
