# byte 60: a name in a Linux record of 4096 bytes
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"dir/"*1023 "abcd" "\n"
data "a"
}
