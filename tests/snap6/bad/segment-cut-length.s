# byte 33: the input ends inside the length of the only segment, which the count announces
"process snapshot\n"
record 10 mem
number 1
number 4096
"       1024"
