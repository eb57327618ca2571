# byte 60: a thread's process id without a newline
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"thread\n"
data "10"
}
