# byte 20: one blank behind a process id that does not fill its columns
"process snapshot\n"
"10 "
"status\n"
data "x"
