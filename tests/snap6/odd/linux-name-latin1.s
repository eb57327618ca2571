# byte 60: a name in a Linux record that is not UTF-8
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"\xe9t\xe9" "\n"
data "a"
}
