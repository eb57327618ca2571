# byte 52: the input ends inside the base of a segment
"process snapshot\n"
record 10 mem
number 1
"     40"
