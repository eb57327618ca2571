# A reference to its own range, of which the page is not read yet: it leads to the earlier record.
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r a
r b
record 10 mem
number 1
segment 4096 2048
m 10 5120
r c
