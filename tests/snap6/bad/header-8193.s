# byte 17: a header line of 8193 bytes with its newline
"process snapshot\n"
right 10
"x"*8180 "\n"
data "long"
