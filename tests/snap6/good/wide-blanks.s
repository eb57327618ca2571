# Numbers of more than 12 bytes whose digits begin behind blanks.
"process snapshot\n"
record 10 mem
number 1
"  123456789012 "
"           4096 "
r a
r b
r c
r d
