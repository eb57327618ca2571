# byte 17: a header without a process id
"process snapshot\n"
"status\n"
data "x"
