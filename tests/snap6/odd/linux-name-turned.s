# byte 60: a name in a Linux record with a character that changes the direction of text
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"a\xe2\x80\xaeb" "\n"
data "a"
}
