# Records of unknown type that parse as files, behind one another and at the end.
"process snapshot\n"
record 10 args
data "cat notes"
record 10 wait.2
data ""
record 11 status
data "eleven"
record 11 args
data "         12 mem\n"
record 10 args
data "cat other notes"
