# References from mem into text, from text into mem, and across processes.
"process snapshot\n"
justify left
record 10 text
segment 0 2048
r a
r b
record 10 mem
number 1
segment 4096 3072
t 10 1024
r c
z
record 11 text
segment 0 3072
m 10 5120
t 10 0
r d
record 11 mem
number 1
segment 4096 4096
t 11 2048
m 10 5120
m 11 4096
z
