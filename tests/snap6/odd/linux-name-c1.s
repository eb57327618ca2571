# byte 60: a name in a Linux record with a control character of two bytes
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"a\xc2\x85b" "\n"
data "a"
}
