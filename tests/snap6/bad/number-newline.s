# byte 56: a newline for the blank behind a number
"process snapshot\n"
record 10 mem
number 1
"       4096"
"\n"
number 1024
r a
