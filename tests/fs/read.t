#!/usr/bin/env bash
# snapfs: reads in parallel, reads of holes, and reads of a truncated snapshot.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/fs/fs.sh
. "$tests/fs/fs.sh"

target "$targets/anon"
snap -o "$tmp/snap" "$pid"
target "$targets/sparse"
snap -o "$tmp/sparse" "$pid"
sparse=$pid
target "$targets/hidden" poison
snap -o "$tmp/hidden" "$pid"
hidden=$pid
lines=${lines_of[$pid]}

# Ten readers at once read the same.
cp "$tmp/snap" "$tmp/copy"
serve "$tmp/copy"
dir=$(echo "$mnt"/[0-9]*)
sum=$(cat "$dir/core" "$dir"/map/*.rw-p "$dir/text" 2>/dev/null | cksum)
for i in 1 2 3 4 5 6 7 8 9 10; do
	cat "$dir/core" "$dir"/map/*.rw-p "$dir/text" 2>/dev/null |
	    cksum >"$tmp/sum.$i" &
	readers[i]=$!
done
wait "${readers[@]}"
is "$(cat "$tmp"/sum.* | sort | uniq -c | tr -s ' ')" " 10 $sum" \
    "ten readers read the same"

# A read of any size, or a mapping, gives the same bytes.
try "reads of any size give the same bytes" python3 - "$dir/core" <<'EOF'
import mmap, os, random, sys
f = os.open(sys.argv[1], os.O_RDONLY)
n = os.fstat(f).st_size
whole = b"".join(iter(lambda: os.read(f, 1 << 20), b""))
assert len(whole) == n, (len(whole), n)
m = mmap.mmap(f, n, mmap.MAP_PRIVATE, mmap.PROT_READ)
assert m[:] == whole, "mapped"
random.seed(1)
for size in 1, 1000, 4096, 65536, 100000, 300000, 1 << 20, 1 << 22:
    g = os.open(sys.argv[1], os.O_RDONLY)
    at = 0
    for i in range(60):
        if random.random() < .1:
            at = random.randrange(n)
            os.lseek(g, at, os.SEEK_SET)
        got = os.read(g, size)
        assert got == whole[at:at + size], (at, size)
        at += len(got)
    os.close(g)
EOF
exec {copy}<"$dir/core"
truncate -s 200000 "$tmp/copy"
cat "$dir/mem" "$dir"/map/*.rw-p <&$copy >/dev/null 2>"$tmp/err2"
ok $(($(grep -c 'Input/output error' "$tmp/err2") == 0)) \
    "reads of a truncated snapshot fail"
exec {copy}<&-
ls "$dir" >/dev/null
ok $? "the server still runs after that"
unserve

# Copies of terabytes write no holes.
serve "$tmp/sparse"
dir=$mnt/$sparse
ok $(($(stat -c '%b * 512' "$dir/mem") > 100000000)) \
    "st_blocks does not count holes"
(
	ulimit -f 200000
	cd "$dir" && timeout 60 tar -cSf "$tmp/mem.tar" mem core map
) 2>"$tmp/err2"
ok $(($(stat -c %s "$tmp/mem.tar") > 100000000)) \
    "tar -S archives a sparse terabyte in little space" || diag <"$tmp/err2"
big=$(cd "$dir/map" && stat -c '%b %s %n' -- * | grep -v '^0 ' |
    sort -k 2nr | sed -n '1s/^[0-9]* [0-9]* //p')
# the target has the size that tera() of tests/targets/target.h returns
large=$(awk '$1 == "region" && $2 == "page0" { print substr($3, 3) }' \
    "${lines_of[$sparse]}")
large=$(sed -n "s/^0*$large-\([0-9a-f]*\) .*/0x\1-0x$large/p" \
    "/proc/$sparse/maps")
is "$(stat -c %s "$dir/map/$big")" "$((large))" "it has its mapping's size"
# if the file system allows files of this size
if truncate -s "$(stat -c %s "$dir/map/$big")" "$tmp/big" 2>/dev/null; then
	rm "$tmp/big"
	try "cp of it" timeout 60 cp --sparse=auto "$dir/map/$big" "$tmp/big"
	ok $(($(du -k "$tmp/big" | cut -f1) > 100000)) "the copy is small"
	try "the copy is the same" python3 - "$dir/map/$big" "$tmp/big" <<'EOF'
import os, sys
a, b = (os.open(x, os.O_RDONLY) for x in sys.argv[1:])
at = 0
n = 0
while True:
    try:
        at = os.lseek(a, at, os.SEEK_DATA)
    except OSError:
        break
    end = os.lseek(a, at, os.SEEK_HOLE)
    while at < end:
        k = min(end - at, 1 << 20)
        assert os.pread(a, k, at) == os.pread(b, k, at), at
        at += k
        n += k
assert n > 100, n
EOF
else
	skip "cp of it" "no file may be so large"
	skip "the copy is small" "no file may be so large"
	skip "the copy is the same" "no file may be so large"
fi
rm -f "$tmp/big" "$tmp/mem.tar"
timeout 60 grep -c nothing-of-the-kind "$dir/map/$big" >/dev/null
is $? 1 "grep skips holes"
unserve

# Any read of a missing page fails; it never gives zeros.
serve "$tmp/hidden"
dir=$mnt/$hidden
if grep -q '^missing' "$lines"; then
	try "reads of missing pages fail" python3 - "$dir" "$lines" <<'EOF'
import errno, mmap, os, sys
d, lines = sys.argv[1:]
vmas = {}
for name in os.listdir(d + "/map"):
    vmas[tuple(int(x, 16) for x in name.split(".")[0].split("-"))] = name
mem = os.open(d + "/mem", os.O_RDONLY)
seen = 0
for line in open(lines):
    w = line.split()
    if w[0] != "missing":
        continue
    at, n = int(w[2], 0), int(w[3])
    start, end = next(k for k in vmas if k[0] <= at < k[1])
    f = os.open("%s/map/%s" % (d, vmas[start, end]), os.O_RDONLY)
    size = os.fstat(f).st_size
    for a in range(at, at + n, 4096):
        for fd, off in (mem, a), (f, a - start):
            try:
                got = os.pread(fd, 10, off)
                sys.exit("%x reads as %r" % (a, got))
            except OSError as e:
                assert e.errno == errno.EIO
    # splice into a pipe as well, from the page before it and from it
    for i in range(3):
        r, w2 = os.pipe()
        if i == 0 and at > start:
            k = os.splice(f, w2, 8192, offset_src=at - start - 4096)
            assert k <= 4096, k
            continue
        try:
            k = os.splice(f, w2, 4096, offset_src=at - start)
            sys.exit("%x: %d bytes into a pipe" % (at, k))
        except OSError as e:
            assert e.errno == errno.EIO, e
        os.close(r)
        os.close(w2)
    # a read that reaches it is short
    if at > start:
        got = os.pread(f, 1 << 20, 0 if at - start < 1 << 20 else
                       at - start - 8192)
        assert 0 < len(got) <= at - start, len(got)
    assert os.fstat(f).st_size == size, "the size changed"
    seen += 1
assert seen > 0
EOF
else
	skip "reads of missing pages fail" "not in this kernel"
fi
unserve
finish 12
