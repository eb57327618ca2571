# byte 51: a file with more behind it than it says
"process snapshot\n"
record 10 status
number 3
"hel"
"lo"
record 10 fd
data "/\n"
