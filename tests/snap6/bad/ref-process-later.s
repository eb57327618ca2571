# byte 69: a reference to a process that comes later
"process snapshot\n"
record 10 mem
number 1
segment 4096 1024
m 11 4096
record 11 mem
number 1
segment 4096 1024
r a
