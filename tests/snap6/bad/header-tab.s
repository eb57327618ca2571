# byte 19: a tab behind the process id
"process snapshot\n"
"10"
"\t         status\n"
data "x"
