# byte 60: a name in a Linux record that begins with a slash
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"/maps\n"
data ""
}
