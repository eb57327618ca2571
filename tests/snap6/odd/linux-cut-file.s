# byte 65: a Linux record whose last file is longer than what is left of it
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"maps\n"
number 4
"abc"
}
record 10 regs
data "x"
