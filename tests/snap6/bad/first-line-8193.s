# byte 0: a first line of 8193 bytes with its newline
"process snapshot" "x"*8176 "\n"
record 10 status
data "x"
