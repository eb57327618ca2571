# byte 53: a newline between two records
"process snapshot\n"
record 10 status
data "hello"
"\n"
record 10 fd
data "/\n"
