# -c: A NUL and a byte of no character set in the first line, which is for humans.
"process snapshot \0\xff\n"
record 10 status
data "x"
