# byte 34: an empty text
"process snapshot\n"
record 10 text
segment 0 0
