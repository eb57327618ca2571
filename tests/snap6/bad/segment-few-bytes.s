# byte 57: three pages, and two bytes for them
"process snapshot\n"
record 10 mem
number 1
number 4096
number 3072
z 2
