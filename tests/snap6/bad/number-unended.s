# byte 48: twelve digits and no blank before the bytes of a file
"process snapshot\n"
record 10 status
"000000000005"
"hello"
