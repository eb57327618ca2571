# byte 17: a NUL and more behind the record type, of which Plan 9 takes no notice
"process snapshot\n"
right 10
"status\0junk\n"
data "x"
