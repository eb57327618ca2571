# byte 0: a first line of 32769 bytes with its newline
"process snapshot" "x"*32752 "\n"
record 10 status
data "x"
