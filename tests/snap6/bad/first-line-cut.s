# byte 27: the input ends before the newline of the first line
"process snapshot 0 ann@host"
