# byte 96: a name in a Linux record a second time
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"maps\n"
data "a"
"comm\n"
data "b"
"maps\n"
data "c"
}
