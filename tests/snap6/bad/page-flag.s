# byte 1094: a page flag of no meaning
"process snapshot\n"
record 10 mem
number 1
segment 4096 3072
r a
"s"
z
