# byte 46: segment behind fd
"process snapshot\n"
record 10 fd
data "/\n"
record 10 segment
data "x"
