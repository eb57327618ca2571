# byte 64: a Linux record that ends in a name without a newline
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"maps"
}
