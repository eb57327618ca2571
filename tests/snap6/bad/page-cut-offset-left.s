# byte 1112: the input ends behind one blank of a left-justified offset, enough for Plan 9
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r a
"m"
left 10
"4096 "
