# byte 50: numbers with single blanks between them, which Plan 9 takes
"process snapshot\n"
record 10 mem
number 1
"4096 "
"1024 "
r a
