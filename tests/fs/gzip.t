#!/usr/bin/env bash
# A mounted compressed snapshot shows the same files as one that is not
# compressed.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/fs/fs.sh
. "$tests/fs/fs.sh"

target "$targets/anon"
snap -z "$pid" >"$tmp/z"
gunzip <"$tmp/z" >"$tmp/plain"
gzip -9 <"$tmp/plain" >"$tmp/gz9"
unnoticed "$pid" "the target noticed nothing"

# sums: print checksums of all files, and of parts read in random order
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
is "$(sums)" "$want" "compressed with gzip: the files are the same"
unserve
TMPDIR=/nonexistent serve "$tmp/z"
is "$(sums)" "$want" "snap -z: the same files, without a temporary file"
sums >"$tmp/one" &
one=$!
sums >"$tmp/two"
wait "$one"
is "$(cat "$tmp/one" "$tmp/two")" "$want"$'\n'"$want" "two readers at once"
unserve
TMPDIR=/nonexistent snapfs -m "$mnt" "$tmp/gz9"
is "$rc $(grep -c 'temporary file in /nonexistent' "$tmp/err")" "1 1" \
    "compressed with gzip: a temporary file is needed"

# Reads of a part that was damaged while it was mounted fail.
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
    "damage in a mounted snapshot is a read error"
unserve
finish 7
