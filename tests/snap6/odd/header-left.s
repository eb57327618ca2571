# byte 17: a process id left-justified
"process snapshot\n"
left 10
"status\n"
data "x"
