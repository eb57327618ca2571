# byte 17: a process id of 20 nines
"process snapshot\n"
record 99999999999999999999 status
data "x"
