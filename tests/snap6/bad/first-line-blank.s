# byte 0: a blank before the prefix
" process snapshot\n"
