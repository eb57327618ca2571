# byte 46: the input ends inside the length of a file
"process snapshot\n"
record 10 status
"          "
