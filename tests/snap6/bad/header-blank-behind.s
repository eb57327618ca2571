# byte 17: a blank behind the record type
"process snapshot\n"
right 10
"status \n"
data "x"
