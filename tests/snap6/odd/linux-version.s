# byte 46: a Linux record of another version
"process snapshot\n"
record 10 proc
data {
"linux amd64 2\n"
}
