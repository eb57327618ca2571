# -c: Numbers of 11 digits, which leave no blank before, and of more, which push what follows to the right.
"process snapshot\n"
record 123456789012 status
data "twelve digits"
record 18446744073709551615 mem
number 1
segment 123456789012 1024
r a
record 4294967306 mem           # 10, to a reader of 32 bits
number 1
segment 4096 2048
m 18446744073709551615 123456789012
z
record 10 status
data "not 4294967306"
record 99999999999 status
data "eleven"
