# The records of three processes in no order, with references among them.
"process snapshot\n"
record 10 status
data "ten"
record 12 mem
number 1
segment 4096 1024
r a
record 11 text
segment 0 2048
m 12 4096
r b
record 10 mem
number 1
segment 4096 2048
t 11 1024
z
record 12 status
data "twelve"
record 10 fd
data "/\n"
record 11 status
data "eleven"
record 12 text
segment 0 1024
z
record 11 mem
number 1
segment 0 2048
m 10 4096
r c
record 10 text
segment 0 1024
r d
