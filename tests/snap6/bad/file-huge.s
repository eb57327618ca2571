# byte 36: a file that says it is of 2^63 bytes
"process snapshot\n"
record 10 status
number 9223372036854775808
"hello"
