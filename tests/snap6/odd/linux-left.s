# byte 63: a length in a Linux record left-justified
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"fd\n"
left 0
}
