# byte 57: 2^42 + 2048 bytes announced; in 32 bits, two pages
"process snapshot\n"
record 10 mem
number 1
number 4096
number 4398046513152
r a
z
