# A process id with leading zeros, which is 8 to Bell Labs' reader.
"process snapshot\n"
field 11 00000000010
"status\n"
data "octal"
record 10 fd
data "decimal"
