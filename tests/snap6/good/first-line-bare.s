# -c: The first line is the prefix and nothing else.
"process snapshot\n"
record 10 status
data "bare"
