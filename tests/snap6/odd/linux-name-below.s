# byte 77: a name in a Linux record below a name that is a file
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"net\n"
data "a"
"net/y\n"
data "b"
}
