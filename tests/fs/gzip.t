#!/usr/bin/env bash
# Compressed snapshots, mounted: every file is what it is in the plain one.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/fs/fs.sh
. "$tests/fs/fs.sh"

target "$targets/anon"
snap -z "$pid" >"$tmp/z"
gunzip <"$tmp/z" >"$tmp/plain"
gzip -9 <"$tmp/plain" >"$tmp/gz9"
unnoticed "$pid" "the target noticed nothing"

# The sums of all files, and what can be read at places in no order.
sums() {
	# what is missing from the snapshot cannot be read
	(cd "$mnt" && find . -type f ! -name core ! -name mem -print0 |
	    sort -z | xargs -0 sha256sum 2>/dev/null)
	sha256sum <"$mnt/$pid/core"
	python3 -c '
import hashlib, os, random, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(fd).st_size
at = random.Random(1)
h = hashlib.sha256()
for i in range(500):
	h.update(os.pread(fd, 5000, at.randrange(size)))
print(h.hexdigest())' "$mnt/$pid/core"
}

serve "$tmp/plain"
want=$(sums)
unserve
is "$(grep -c . <<<"$want" | sed 's/^[0-9].*/some/')" some "there are files"
serve "$tmp/gz9"
is "$(sums)" "$want" "another's gzip"
unserve
TMPDIR=/nonexistent serve "$tmp/z"
is "$(sums)" "$want" "one of snap -z, without a spool"
sums >"$tmp/one" &
one=$!
sums >"$tmp/two"
wait "$one"
is "$(cat "$tmp/one" "$tmp/two")" "$want"$'\n'"$want" "by two at once"
unserve
TMPDIR=/nonexistent snapfs -m "$mnt" "$tmp/gz9"
is "$rc $(grep -c 'temporary file in /nonexistent' "$tmp/err")" "1 1" \
    "another's needs one"

# What is damaged while it is mounted cannot be read, and is not wrong.
cp "$tmp/z" "$tmp/hurt"
serve "$tmp/hurt"
size=$(stat -c %s "$tmp/hurt")
python3 -c '
import sys
with open(sys.argv[1], "r+b") as f:
	for at in range(100, int(sys.argv[2]), 5000):
		f.seek(at)
		c = f.read(1)[0]
		f.seek(at)
		f.write(bytes([c ^ 64]))' "$tmp/hurt" "$size"
cat "$mnt/$pid/core" >/dev/null 2>"$tmp/err"
is "$? $(grep -c 'Input/output error' "$tmp/err")" "1 1" \
    "damage in a mounted snapshot: an error"
unserve
finish 7
