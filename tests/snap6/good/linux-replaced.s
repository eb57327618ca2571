# A malformed Linux record that a later one replaces, and another record between the two.
"process snapshot\n"
record 10 proc
data {
"linux amd64 2\n"
"maps\n"
data "a"
}
record 10 status
data "one"
record 10 proc
data {
"linux amd64 1\n"
"maps\n"
data "b"
}
