# byte 58: a text whose first page refers to its second
"process snapshot\n"
record 10 text
segment 0 2048
t 10 1024
r a
