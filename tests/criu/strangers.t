#!/usr/bin/env bash
# Untrusted images: a file that is not a regular file is not read, and snapload
# does not wait for it.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

fresh() {
	rm -rf "$tmp/images" "$tmp/snap"
	python3 "$tests/criu/criuasm.py" make both "$tmp/images"
}

load() {
	timeout -k 1 20 "$BUILD/snapload" -u -D "$tmp/images" -o "$tmp/snap" \
	    2>"$tmp/err"
	rc=$?
	err=$(sed "s,$tmp/images/,,;s/^snapload: //" "$tmp/err")
}

# refused MESSAGE NAME: no snapshot is written, and one line names the file
refused() {
	load
	is "$rc $(wc -l <"$tmp/err") $([ -e "$tmp/snap" ] && echo there) $err" \
	    "1 1  $1" "$2"
}

fresh
load
is "$rc $err" "0 " "good images are read"
fresh
yes 'what root alone may read' | head -c 90112 >"$tmp/secret"
chmod 600 "$tmp/secret"
ln -sf "$tmp/secret" "$tmp/images/pages-3.img"
refused "pages-3.img: not a regular file" "a link to pages elsewhere"
for f in inventory pstree files core-7 mm-7 pagemap-7; do
	fresh
	mv "$tmp/images/$f.img" "$tmp/$f"
	ln -s "../$f" "$tmp/images/$f.img"
	load
	is "$rc $(grep -c 'not a regular file' "$tmp/err")" \
	    "1 1" "a link to $f.img elsewhere"
	rm "$tmp/images/$f.img"
	mkfifo "$tmp/images/$f.img"
	load
	is "$rc $(grep -c 'not a regular file' "$tmp/err")" "1 1" \
	    "a FIFO instead of $f.img"
done
fresh
ln -sf pages-1.img "$tmp/images/pages-3.img"
refused "pages-3.img: not a regular file" "a link to a file beside it"
fresh
ln -sf "$tmp/secret" "$tmp/images/ghost-file-1f.img"
refused "ghost-file-1f.img: not a regular file" \
    "a link in place of a deleted file"
fresh
if mknod "$tmp/images/ghost-file-20.img" c 1 5 2>/dev/null; then
	refused "ghost-file-20.img: not a regular file" "/dev/zero"
else
	skip "/dev/zero" "cannot create it"
fi
fresh
mv "$tmp/images/inventory.img" "$tmp/inventory"
ln -s "$tmp/inventory" "$tmp/images/inventory.img"
refused "inventory.img: not a regular file" "a link to the inventory"

# the only link that criu makes: parent
rm -rf "$tmp/images"
python3 "$tests/criu/criuasm.py" make stack "$tmp/stack"
mv "$tmp/stack/4" "$tmp/images"
ln -sfn ../stack/3 "$tmp/images/parent"
load
is "$rc $err" "0 " "a link to a parent is read"
if is_root; then
	chown -h 65534:65534 "$tmp/images/parent"
	load
	is "$rc $(grep -c 'to another user.s directory' "$tmp/err")" \
	    "1 1" "nobody's link to a directory of root: refused"
	chown -R 65534:65534 "$tmp/stack"
	load
	is "$rc $err" "0 " "nobody's link to a directory of nobody is read"
else
	skip "links of others" "must be root" 2
fi
ln -sfn . "$tmp/images/parent"
load
is "$rc $(grep -c 'parent links form a loop' "$tmp/err")" "1 1" \
    "a loop of parents: refused"
mkfifo "$tmp/fifo"
ln -sfn ../fifo "$tmp/images/parent"
load
is "$rc $(grep -c 'Not a directory' "$tmp/err")" "1 1" \
    "a FIFO as the parent: refused"
finish 23
