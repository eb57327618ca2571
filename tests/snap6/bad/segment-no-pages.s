# byte 57: the input ends behind the length of a segment: one page, no byte
"process snapshot\n"
record 10 mem
number 1
number 4096
number 1024
