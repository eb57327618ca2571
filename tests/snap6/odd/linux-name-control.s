# byte 60: a name in a Linux record with a control character
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"a\x1bb" "\n"
data "a"
}
