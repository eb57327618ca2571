# -c: Sixteen segments, as many as 9front takes.
"process snapshot\n"
record 10 mem
number 16
segment 0x01000 1024
r s1
segment 0x02000 1024
r s2
segment 0x03000 1024
r s3
segment 0x04000 1024
r s4
segment 0x05000 1024
r s5
segment 0x06000 1024
r s6
segment 0x07000 1024
r s7
segment 0x08000 1024
r s8
segment 0x09000 1024
r s9
segment 0x0a000 1024
r s10
segment 0x0b000 1024
r s11
segment 0x0c000 1024
r s12
segment 0x0d000 1024
r s13
segment 0x0e000 1024
r s14
segment 0x0f000 1024
r s15
segment 0x10000 1024
r s16
