# A reference to a page of which a later segment would hide the second half: the first segment counts.
"process snapshot\n"
record 10 mem
number 3
segment 4096 1024
r a
segment 4608 1024
r b
segment 8192 1024
m 10 4096
