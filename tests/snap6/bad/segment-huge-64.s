# byte 46: a text of 2^64 - 1 bytes announced; the count of its pages is 0 if it wraps
"process snapshot\n"
record 10 text
number 0
number 18446744073709551615
z
