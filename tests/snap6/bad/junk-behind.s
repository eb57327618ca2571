# byte 49: a line of junk behind the last record; Plan 9 drops what has no newline
"process snapshot\n"
record 10 status
data "x"
"junk"
