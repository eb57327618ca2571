# byte 1135: a t reference just behind the end of the text
"process snapshot\n"
record 10 text
segment 0 1024
r a
record 10 mem
number 1
segment 4096 1024
t 10 1024
