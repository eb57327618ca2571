# Left- and right-justified numbers side by side, and numbers justified neither way.
"process snapshot\n"
left 10
"status\n"
right 4
"left"
right 10
"regs\n"
left 5
"right"
"    10      mem\n"
"  2         "
left 4096
right 3072
r a
"m"
left 10
right 4096
"m"
right 10
left 4096
"   65536    "
left 1024
"m"
"     10     "
"   4096     "
left 11
"text\n"
right 0
left 1024
z
right 12
"status\n"
left 0
