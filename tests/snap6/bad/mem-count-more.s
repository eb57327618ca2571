# byte 2155: two segments where the count says three
"process snapshot\n"
record 10 mem
number 3
segment 4096 1024
r a
segment 8192 1024
r b
number 10                       # a base, as it seems
"status\n"
data "hello, worlds"
