# byte 28: a byte other than a blank in column 12, of which Plan 9 takes no notice
"process snapshot\n"
"         10"
"Xstatus\n"
data "x"
