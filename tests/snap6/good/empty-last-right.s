# An empty segment last, a right-justified header behind it.
"process snapshot\n"
record 10 mem
number 2
segment 4096 1024
r a
segment 0 0
record 10 status
data "right"
