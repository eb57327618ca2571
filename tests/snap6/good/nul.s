# -c: A file with NULs, newlines and bytes of no character set.
"process snapshot\n"
record 10 proc
data "\0\1\2\n\r\t\"\\ \x7f\x80\xfe\xff\0"
