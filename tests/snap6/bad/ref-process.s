# byte 1094: a reference to a process that is not in the snapshot
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r a
m 11 4096
