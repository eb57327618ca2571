# byte 49: a file a second time
"process snapshot\n"
record 10 status
data "x"
record 10 status
data "y"
