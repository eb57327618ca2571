# byte 1083: a text section that ends in a reference
"process snapshot\n"
record 10 text
segment 0 2048
r a
t 10 0
