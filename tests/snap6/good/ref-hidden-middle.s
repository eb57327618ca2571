# A reference to a page of which a later segment would hide the first half.
"process snapshot\n"
record 10 mem
number 3
segment 4096 2048
r a
r b
segment 4608 1024
r c
segment 8192 1024
m 10 5120
