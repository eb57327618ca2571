# byte 1135: a page written raw a second time
"process snapshot\n"
record 10 text
segment 0 1024
r a
record 10 mem
number 1
segment 4096 2048
r a
z
