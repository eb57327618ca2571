# byte 33: 2^62 segments announced, one there
"process snapshot\n"
record 10 mem
number 4611686018427387904
segment 4096 1024
r a
