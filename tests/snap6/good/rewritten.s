# A trailer that a program of Plan 9 wrote again, as of a process 0, first of all: it is none.
"process snapshot\n"
justify left
record 0 proc
data "linux index 1\nbefore\n          5 1 99\nend\n         24 123456781234567\0SNAPEND\n"
record 10 noteid
data "         10 "
record 10 mem
number 1
segment 4096 2048
r a
r b
