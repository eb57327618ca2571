# byte 55: a text that ends 1024 bytes beyond 2^64
"process snapshot\n"
record 10 text
number 18446744073709550592
number 2048
r a
r b
