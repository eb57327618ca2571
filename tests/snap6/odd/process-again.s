# byte 77: a process goes on after another has begun
"process snapshot\n"
record 10 regs
data "x"
record 11 regs
data "x"
record 10 status
data "x"
