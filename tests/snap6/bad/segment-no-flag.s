# byte 1094: the input ends before the flag of the second page
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r a
