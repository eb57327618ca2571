# Process 0.
"process snapshot\n"
record 0 status
data "zero"
record 0 mem
number 1
segment 0 2048
r a
m 0 0
