# byte 51: a tab among the blanks of a number
"process snapshot\n"
record 10 mem
number 1
"      "
"\t4096 "
number 1024
r a
