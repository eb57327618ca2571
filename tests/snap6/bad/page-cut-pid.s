# byte 1104: the input ends inside the process id of a reference
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r a
"m       10"
