# Leading zeros are decimal for us; Plan 9 takes the numbers for octal.
"process snapshot\n"
record 10 status
field 11 00000000010
"0123456789"
record 10 mem
field 11 01
field 11 00000010000
field 11 00000002000
r a
r b 976
