# byte 36: the length of a file left-justified
"process snapshot\n"
record 10 status
left 1
"x"
