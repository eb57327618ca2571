# byte 57: 2^60 bytes announced; in 32 bits, no page at all
"process snapshot\n"
record 10 mem
number 1
number 4096
number 1152921504606846976
z
