# A mem section of no segments.
"process snapshot\n"
record 10 mem
number 0
record 10 status
data "no memory"
