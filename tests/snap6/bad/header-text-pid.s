# byte 17: letters for a process id, which Plan 9 takes for 0
"process snapshot\n"
"abcdefghijk status\n"
data "x"
