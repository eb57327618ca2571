# byte 2160: a t reference that comes back to the text by way of 2^64
"process snapshot\n"
record 10 text
segment 4096 2048
r a
r b
record 10 mem
number 1
segment 4096 1024
t 10 18446744073709550592       # -1024
