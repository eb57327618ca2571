# byte 0: a first line that does not begin as a snapshot's does
"process snapshoT\n"
record 10 status
data "x"
