# byte 28: a process id, a newline where a blank should be
"process snapshot\n"
"         10"
"\nstatus\n"
data "x"
