# byte 36: the input ends behind a header
"process snapshot\n"
record 10 status
