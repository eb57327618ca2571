# byte 2108: a t reference into the middle of a page
"process snapshot\n"
record 10 text
segment 0 3072
r a
r b
t 10 512
