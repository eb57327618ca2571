# Bytes that look like headers, numbers and page flags where they are not.
"process snapshot\n"
record 10 ns
data "         10 status\n          5 "
record 10 status
data "\n"
record 10 text
segment 0 1034
r "         11 mem\n" "          1 " "       4096 " "       1024 " "r"*972
r "mtrz \n    "
record 10 mem
number 2
segment 4096 1034
t 10 0
r "          "
segment 8192 1024
z
record 10 regs
data "zzzz"
