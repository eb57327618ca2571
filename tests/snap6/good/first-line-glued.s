# -c: Text glued to the prefix of the first line.
"process snapshots are like old Unix core dumps\n"
record 10 status
data "glued"
