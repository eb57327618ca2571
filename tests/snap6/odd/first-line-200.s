# byte 0: a first line of 200 bytes
"process snapshot" " "*183 "\n"
record 10 status
data "x"
