# byte 49: a header line that has no end, behind a good record
"process snapshot\n"
record 10 status
data "x"
right 10
"x"*40000
