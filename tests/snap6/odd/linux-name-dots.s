# byte 60: a name in a Linux record that climbs
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"fd/../../x\n"
data ""
}
