# byte 36: a length with leading zeros
"process snapshot\n"
record 10 status
field 11 01
"x"
