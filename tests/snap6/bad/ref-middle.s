# byte 2119: a reference into the middle of a page
"process snapshot\n"
record 10 mem
number 1
segment 4096 3072
r a
r b
m 10 4608
