# byte 60: a name in a Linux record with an empty component at the end
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"fd/\n"
data ""
}
