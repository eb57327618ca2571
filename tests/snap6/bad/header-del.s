# byte 17: a DEL in the record type
"process snapshot\n"
right 10
"un\x7fheard\n"
data "x"
