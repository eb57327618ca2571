# A base of 63 digits, the longest number.
"process snapshot\n"
record 10 mem
number 1
field 63 000000000000000000000000000000000000000000000000000000000004096
number 1024
r a
