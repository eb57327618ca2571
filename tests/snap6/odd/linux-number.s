# byte 65: a length in a Linux record that is no number
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"maps\n"
"not a number, this"
}
