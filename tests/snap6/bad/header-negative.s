# byte 25: a negative process id
"process snapshot\n"
"        "
"-10 status\n"
data "x"
