# byte 45: 2^64, the least number that is too large
"process snapshot\n"
record 10 mem
number 1
number 18446744073709551616
number 1024
r a
