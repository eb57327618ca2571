# byte 42: -1 segments
"process snapshot\n"
record 10 mem
"         "
"-1 "
