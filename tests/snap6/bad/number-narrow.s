# byte 68: a number of ten columns and a blank, then a raw page
"process snapshot\n"
record 10 mem
number 1
number 4096
"      1024 "
r a
