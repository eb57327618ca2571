# Pages that begin with blanks, behind a number that ends in them.
"process snapshot\n"
record 10 status
left 4
"    "
record 10 text
segment 0 4
r "    "
record 10 mem
justify left
number 1
segment 4096 3072
r " "*1024
m 10 4096
r " "*1023 "x"
