# A file that repeats: the last one counts.
"process snapshot\n"
record 10 status
data "first"
record 10 regs
data u10 184
record 11 status
data "other"
record 10 status
data "second, and last"
