#!/usr/bin/env bash
# Archives of checkpoints, as podman and the kubelet's runtimes write them, are
# read like the images in them.  archive.py makes them without the library.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

here=$tests/criu
python3 "$here/criuasm.py" all "$tmp/asm" || exit 1
find "$tmp/asm" -name inventory.img -exec touch -d @1735689600 {} +

# tar FORM DIR: $tmp/FORM.tar
tar() {
	python3 "$here/archive.py" make "$1" "$2" "$tmp/$1.tar" || exit 1
}

# same WHAT FILE: FILE is read like the images in $images
images=$tmp/asm/both
same() {
	"$BUILD/snapcat" -o "$tmp/want.snap" "$images" &&
	    "$BUILD/snapcat" -o "$tmp/got.snap" "$2" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "0 " "$1: snapcat reads it"
	try "$1: same as its images" cmp "$tmp/got.snap" "$tmp/want.snap"
}

for form in podman pax gnu top dot late; do
	tar $form "$images"
	same $form "$tmp/$form.tar"
done
gzip -k "$tmp/podman.tar"
same "compressed" "$tmp/podman.tar.gz"
if ! type zstd >/dev/null 2>&1; then
	skip "compressed with zstd" "no zstd here" 10
elif zstd -q <"$tmp/podman.tar" | "$BUILD/snapls" 2>&1 | grep -q without; then
	skip "compressed with zstd" "built without its library" 10
else
	zstd -q "$tmp/podman.tar" -o "$tmp/podman.tar.zst"
	same "zstd" "$tmp/podman.tar.zst"
	same "zstd from a pipe" <(cat "$tmp/podman.tar.zst")
	{
		head -c 100000 "$tmp/podman.tar" | zstd -q
		tail -c +100001 "$tmp/podman.tar" | zstd -q -1 --no-check
	} >"$tmp/twice.zst"
	"$BUILD/snapls" "$tmp/twice.zst" >"$tmp/out" 2>&1
	is "$? $(tail -n +2 "$tmp/out" | cksum)" "0 $("$BUILD/snapls" \
	    "$tmp/podman.tar" | tail -n +2 | cksum)" "zstd: several frames"
	head -c -1 "$tmp/podman.tar.zst" >"$tmp/cut.zst"
	(cat "$tmp/podman.tar.zst" && echo) >"$tmp/more.zst"
	{
		head -c 3000 "$tmp/podman.tar.zst"
		echo damage
		tail -c +3008 "$tmp/podman.tar.zst"
	} >"$tmp/bad.zst"
	for f in cut more bad; do
		"$BUILD/snapls" "$tmp/$f.zst" >"$tmp/out" 2>"$tmp/err"
		is "$? $(wc -l <"$tmp/err")" "1 1" "zstd: $f is refused" ||
		    diag <"$tmp/err"
	done
	"$BUILD/snapcat" "$images" | zstd -q >"$tmp/s.zst"
	is "$("$BUILD/snapls" "$tmp/s.zst" | cksum)" \
	    "$("$BUILD/snapls" "$images" | cksum)" "zstd: a snapshot is listed"
	is "$("$BUILD/snapcat" -o "$tmp/got.snap" "$tmp/s.zst" 2>&1)" "" \
	    "zstd: a snapshot is copied"
fi
same "from a pipe" <(cat "$tmp/podman.tar")
same "compressed, from a pipe" <(cat "$tmp/podman.tar.gz")
(echo line && cat "$tmp/podman.tar") >"$tmp/behind"
{
	read -r
	same "after other data in a file" -
} <"$tmp/behind"
images=$tmp/asm/stack/4
tar stack "$images"
same "with parents" "$tmp/stack.tar"

# other commands
cp "$tmp/podman.tar" "$tmp/x.tar"
images=$tmp/asm/both
for c in "snapls -v" "snapls -j" "procmap -x -M"; do
	# shellcheck disable=SC2086 # words are meant
	is "$("$BUILD"/$c "$tmp/x.tar" | grep -v '^snapshot\|tar' | cksum)" \
	    "$("$BUILD"/$c "$images" | grep -v '^snapshot\|asm' | cksum)" "$c"
done
"$BUILD/snapload" -D "$tmp/img" "$tmp/x.tar" >"$tmp/out" 2>&1
ok $? "snapload" || diag <"$tmp/out"
try "snapload: same images" python3 "$here/criuasm.py" same "$tmp/img" "$images"

# refused FORM SENTENCE
refused() {
	[ -e "$tmp/$1.tar" ] || tar "$1" "$tmp/asm/both"
	"$BUILD/snapls" "$tmp/$1.tar" >"$tmp/out" 2>"$tmp/err"
	is "$? $(sed "s,$tmp/,,g; s/found [0-9]*/found N/" "$tmp/err")" \
	    "1 snapls: $1.tar$2" "$1 is refused"
}
refused none ": no criu checkpoint in the archive: no inventory.img"
refused two ": several checkpoints in the archive: a/inventory.img, \
b/inventory.img"
refused huge ": byte 3072: rootfs-diff.tar: the archive is truncated: expected \
4611686018427387904 bytes, found N"
refused sparse "/checkpoint/pages-1.img: cannot read a sparse file from an \
archive; create it with tar without -S"
refused hard "/checkpoint/pages-1.img: not a regular file"
refused link "/checkpoint/pages-1.img: not a regular file"
for form in out absolute around; do
	tar $form "$tmp/asm/stack/4"
done
parent='/checkpoint/pagemap-7.img: entry 2: pages should be in the parent, but'
refused out "$parent out.tar/checkpoint/parent leads out of the archive"
refused absolute "$parent absolute.tar/checkpoint/parent leads out of the \
archive"
refused around "$parent around.tar/checkpoint/parent has too many parents, or \
leads back to itself"

# the message about a damaged block is the same as for the directory
images=$tmp/asm/blocks-noise
tar podman "$images"
"$BUILD/snapcat" -o "$tmp/x.snap" "$images" 2>&1 | sed 's|.*/||' >"$tmp/want"
"$BUILD/snapcat" -o "$tmp/x.snap" "$tmp/podman.tar" 2>&1 |
    sed 's|.*tar/checkpoint/||' >"$tmp/got"
is "$(cat "$tmp/got")" "$(cat "$tmp/want")" "a damaged block: same message"
is "$(grep -c 'img: byte 24927: 129 bytes' "$tmp/got")" 1 \
    "its offset in the image"
images=$tmp/asm/both
tar podman "$images"

# damaged archives are refused
for how in cut flip; do
	mkdir "$tmp/$how"
	python3 "$here/archive.py" $how "$tmp/podman.tar" "$tmp/$how"
	bad=0
	n=0
	for f in "$tmp/$how"/*; do
		n=$((n + 1))
		"$BUILD/snapls" "$f" >"$tmp/out" 2>"$tmp/err"
		case $?:$(wc -l <"$tmp/err") in
		1:1) ;;
		*)
			bad=$((bad + 1))
			head -n 2 "$tmp/err" | sed "s|^|${f##*/}: |" | diag
			;;
		esac
	done
	is "$((n > 10)) $bad" "1 0" "$how: each is refused in one line"
done
finish 50
