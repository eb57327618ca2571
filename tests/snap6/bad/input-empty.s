# byte 0: no input
