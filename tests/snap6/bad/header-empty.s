# byte 49: an empty line for a header
"process snapshot\n"
record 10 status
data "x"
"\n"
record 10 fd
data "x"
