# byte 46: a Linux record without a machine type
"process snapshot\n"
record 10 proc
data {
"linux 1\n"
}
