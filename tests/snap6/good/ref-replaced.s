# A reference to a page that lies over a short one of a later segment.
"process snapshot\n"
record 10 mem
number 3
segment 4096 1024
r a
segment 4096 500
r b 500
segment 8192 1024
m 10 4096
