# byte 45: twelve blanks for the base of a segment
"process snapshot\n"
record 10 mem
number 1
"            "
number 4096
number 1024
r a
