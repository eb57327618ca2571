# byte 33: no segments, which 9front refuses
"process snapshot\n"
record 10 mem
number 0
