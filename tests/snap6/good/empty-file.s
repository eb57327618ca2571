# Files of no bytes.
"process snapshot\n"
record 10 status
data ""
record 10 fd
data ""
