# byte 1107: a number of 40 digits, 0 but for the first, which is 0 in 64 bits
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r a
"m"
right 10
number 18446744073709551616000000000000000004096
