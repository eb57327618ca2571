# -c: A last record of 23 bytes that ends in SNAPEND and a newline: too short for the end of a trailer.
"process snapshot\n"
record 10 status
data "fifteen bytes,\nSNAPEND\n"
