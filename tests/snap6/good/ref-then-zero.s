# A page of zeros behind the last reference, then a right-justified header.
"process snapshot\n"
record 10 mem
number 1
segment 4096 3072
r a
m 10 4096
z
record 10 status
data "fine"
