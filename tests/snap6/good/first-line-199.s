# -c: A first line of 199 bytes with its newline.
"process snapshot" " "*182 "\n"
record 10 status
data "x"
