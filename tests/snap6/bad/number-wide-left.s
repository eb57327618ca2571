# byte 69: a number left-justified in 13 columns: one blank too many before the page
"process snapshot\n"
record 10 mem
number 1
number 4096
left 1024
"  "
r a
