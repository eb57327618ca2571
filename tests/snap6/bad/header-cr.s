# byte 17: a carriage return behind the record type
"process snapshot\n"
right 10
"status\r\n"
data "x"
