# -c: Segments that overlap: the first one counts.
"process snapshot\n"
record 10 mem
number 2
segment 4096 2048
r a
r b
segment 5120 1024
r c
