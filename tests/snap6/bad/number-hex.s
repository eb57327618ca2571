# byte 44: hexadecimal in a length, which Plan 9 takes
"process snapshot\n"
record 10 status
"       0"
"x1f "
bytes x 31
