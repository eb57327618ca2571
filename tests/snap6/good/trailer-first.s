# Records behind a trailer, as of two snapshots one behind the other; the second one is no trailer of both.
"process snapshot\n"
record 10 mem
number 1
segment 4096 1024
r a
record 0 proc
data "linux index 1\nSNAPEND\n"
record 11 mem
number 1
segment 4096 2048
m 10 4096
z
record 0 proc
data "linux index 1\nSNAPEND\n"
