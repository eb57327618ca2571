# byte 45: a base of 10 blanks, 54 digits and a blank
"process snapshot\n"
record 10 mem
number 1
field 64 000000000000000000000000000000000000000000000000004096
number 1024
r a
