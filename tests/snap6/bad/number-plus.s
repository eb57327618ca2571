# byte 45: a plus sign in a length; Bell's atol and 9front's strtoul take it
"process snapshot\n"
record 10 status
"         "
"+5 hello"
