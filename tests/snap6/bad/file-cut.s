# byte 36: a file that says it has 6 bytes, and 5 are left
"process snapshot\n"
record 10 status
number 6
"hello"
