# byte 66: a segment that ends a byte beyond 2^64
"process snapshot\n"
record 10 mem
number 1
number 18446744073709549568
number 2049
r a
r b
z
