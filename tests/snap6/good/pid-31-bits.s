# -c: Process 2^31, which is negative to Bell Labs' reader and 2^31 - 1 to 9front's.
"process snapshot\n"
record 2147483648 status
data "x"
