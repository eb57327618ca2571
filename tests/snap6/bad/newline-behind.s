# byte 49: a newline behind the last record
"process snapshot\n"
record 10 status
data "x"
"\n"
