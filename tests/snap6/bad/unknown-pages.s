# byte 17: a record of unknown type that is made of pages
"process snapshot\n"
record 10 bss
segment 4096 1024
z
