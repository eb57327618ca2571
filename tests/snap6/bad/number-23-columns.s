# byte 45: a number right-justified in 23 columns
"process snapshot\n"
record 10 mem
number 1
field 23 4096
number 1024
r a
