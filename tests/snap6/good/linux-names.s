# Names in a Linux record: a component of 255 bytes, 4095 bytes, blanks, UTF-8; a machine type with a blank.
"process snapshot\n"
record 10 proc
data {
"linux amd64 x 1\n"
"c"*255 "\n"
data "255"
"dir/"*1023 "abc\n"
data "4095"
"\xc3\xa9 \xe6\x97\xa5 ...\n"
data "UTF-8"
}
