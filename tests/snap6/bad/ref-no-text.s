# byte 1094: a t reference to a process without text, where Plan 9's readers crash
"process snapshot\n"
record 10 mem
number 1
segment 4096 2048
r a
t 10 0
