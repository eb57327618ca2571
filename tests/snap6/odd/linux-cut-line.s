# byte 59: a Linux record without the newline of its first line
"process snapshot\n"
record 10 proc
data {
"linux amd64 1"
}
