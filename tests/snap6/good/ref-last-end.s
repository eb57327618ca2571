# A reference, right-justified, is the last thing in the stream.
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r a
m 10 4096
