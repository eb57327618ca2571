# Leading zeros beyond the eleventh column, beyond 20 digits even.
"process snapshot\n"
field 11 0000000000000010
"status\n"
field -11 0000000000000000000000000005
"right"
