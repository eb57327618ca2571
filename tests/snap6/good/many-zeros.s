# -c: A segment of a thousand pages of zeros, the last one short.
"process snapshot\n"
record 10 mem
number 1
segment 0x10000 1023001
z 1000
