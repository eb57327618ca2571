# byte 0: a first line shorter than the prefix
"process snap\n"
record 10 status
data "x"
