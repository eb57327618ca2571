# byte 60: a thread before its process
"process snapshot\n"
record 11 proc
data {
"linux amd64 1\n"
"thread\n"
data "10\n"
}
record 10 status
data "x"
