# byte 36: twelve blanks for the length of a file
"process snapshot\n"
record 10 status
"            "
