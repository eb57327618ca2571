# References to references, and to pages of zeros, across processes.
"process snapshot\n"
record 10 mem
number 1
segment 4096 5120
r a
m 10 4096
z
m 10 6144                       # the zeros
z
record 11 mem
number 1
segment 4096 3072
m 10 5120                       # a, by way of 10
m 10 7168                       # zeros, by way of 10
z
record 12 mem
number 1
segment 4096 3072
m 11 4096
m 11 5120
z
