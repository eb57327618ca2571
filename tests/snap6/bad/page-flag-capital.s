# byte 58: a capital for a page flag
"process snapshot\n"
record 10 text
segment 0 1024
"Z"
