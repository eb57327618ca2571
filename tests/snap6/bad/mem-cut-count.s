# byte 44: the input ends inside the number of segments
"process snapshot\n"
record 10 mem
"          1"
