# byte 45: a number right-justified in 22 columns, the most that Plan 9 takes
"process snapshot\n"
record 10 mem
number 1
field 22 4096
number 1024
r a
