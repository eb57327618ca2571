# byte 45: a zero before eleven digits
"process snapshot\n"
record 10 mem
number 1
field 12 010000000000
number 1024
r a
