# A text in two sections that begins at 1024: t 2048 is at 3072, in the second; an empty section does not count.
"process snapshot\n"
justify left
record 10 text
segment 0 0
record 10 text
segment 1024 1024
r a
record 10 text
segment 3072 1024
r b
record 10 mem
number 1
segment 4096 3072
t 10 0
t 10 2048
z
