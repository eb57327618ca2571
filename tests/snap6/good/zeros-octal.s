# Leading zeros where Plan 9 reads octal up to the first 8, and takes the section nevertheless.
"process snapshot\n"
record 10 mem
number 1
field 11 00000001800
field 11 00000001024
z
