# byte 79: a name in a Linux record that is a directory of another
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"net/x\n"
data "a"
"net\n"
data "b"
}
