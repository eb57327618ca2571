# byte 1070: a last page of 1024 bytes where the segment has 1000
"process snapshot\n"
record 10 mem
number 2
segment 4096 1000
r a 1000
"a"*24                          # digits are what is wanted here
segment 8192 1024
z
