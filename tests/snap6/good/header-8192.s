# A header line of 8192 bytes with its newline; its type is unknown, and its data may be kept.
"process snapshot\n"
right 10
"x"*8179 "\n"
data "long"
record 10 status
data "behind it"
