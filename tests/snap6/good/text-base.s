# A text that does not begin at 0: t counts from where it begins all the same.
"process snapshot\n"
justify left
record 10 text
segment 0x400000 3072
r a
r b
t 10 0
record 10 mem
number 1
segment 4096 2048
t 10 1024
r c
