# byte 0: a first line that has no end
"process snapshot" "x"*40000
