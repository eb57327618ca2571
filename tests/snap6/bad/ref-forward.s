# byte 69: a reference to the next page
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
m 10 5120
r a
