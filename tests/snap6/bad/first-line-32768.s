# byte 0: a first line of 32768 bytes with its newline, the most that 9front takes
"process snapshot" "x"*32751 "\n"
record 10 status
data "x"
