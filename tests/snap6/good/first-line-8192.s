# A first line of 8192 bytes with its newline.
"process snapshot" "x"*8175 "\n"
record 10 status
data "long"
