# byte 1083: an m reference to a process without memory
"process snapshot\n"
record 10 text
segment 0 2048
r a
m 10 0
