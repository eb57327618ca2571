# byte 80: a page flag, after a length of 22 digits in decimal and in octal, and the blank behind it
"process snapshot\n"
record 10 mem
number 1
number 4096
field 22 0000000000000000000001
" z"
