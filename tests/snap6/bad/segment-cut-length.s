# byte 68: the input ends inside the length of a segment
"process snapshot\n"
record 10 mem
number 1
number 4096
"       1024"
