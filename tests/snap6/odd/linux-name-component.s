# byte 60: a name in a Linux record with a component of 256 bytes
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"c"*256 "\n"
data "a"
}
