# byte 63: a minus sign
"process snapshot\n"
record 10 mem
number 1
number 4096
"      "
"-1024 "
r a
