# byte 17: two blanks before the record type
"process snapshot\n"
right 10
" status\n"
data "x"
