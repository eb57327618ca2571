# byte 60: an empty name in a Linux record
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"\n"
data ""
}
