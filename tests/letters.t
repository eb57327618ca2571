#!/usr/bin/env bash
# Each letter stands for the same long option in all programs, with exceptions.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

# The letters and their long names.  A new option takes one of these letters if
# it means the same, or a free letter, or none.
cat >"$tmp/letters" <<'END'
1 last
@ moment
a all
b bytes
c cgroup
D images-dir
d dry-run
e executable
f force
i interval
j json
k kill
l long
M snapshot
m message
N count
n no-inject
O overwrite
o output
p pid
r descendants
S since
s stop
T thread
t timeout
U until
u user
v verbose
w wait
x exclude
z compress
END

# Letters that mean something else in a program: as in pmap(1), grep(1),
# mount(8) or lsblk(8) (-n and -o of tables), or older than this table.  Add no
# others.
cat >"$tmp/others" <<'END'
pagestat f flags
pagestat m mappings
pagestat n noheadings
pagestat o columns
pagestat s shared
procmap A amap
procmap D uvm
procmap P self
procmap d ddb
procmap e everything
procmap g picture
procmap l linux
procmap m map
procmap r reserved
procmap s solaris
procmap x resident
snapcat s salvage
snapcore m minidump
snapcore r reverse
snapcrash c config
snapcrash n lines
snapcrash r reverse
snapcrash s socket
snapdiff n noheadings
snapdiff o columns
snapdiff s sums
snapdiff x hex
snapfs a over
snapfs d debug
snapfs f foreground
snapfs m mount
snapfs o option
snapfs s serve
snapgrep C context
snapgrep F fixed-strings
snapgrep M mapping
snapgrep P pointer
snapgrep Y yara
snapgrep c count
snapgrep e regexp
snapgrep i ignore-case
snapgrep l list
snapgrep m max-count
snapgrep n number
snapgrep o only-matching
snapgrep r range
snapgrep u wide
snapgrep w word-regexp
snapgrep x hex
snapload c check
snapload u unload
snapls c check
snapls n noheadings
snapls o columns
snapstack d debug
snapstack f folded
snapstack l locals
vmtrace k kernel
vmtrace n lines
vmtrace s sums
vmtrace t time
END
cd "$tests/.." || exit 1

# options PROGRAM: print its letters with their long names
options() {
	"$BUILD/$1" --help | sed -nE 's/^  -(.), --([a-z-]+).*/\1 \2/p'
}
: >"$tmp/all"
: >"$tmp/mine"
for dir in cmd/*/; do
	p=$(basename "$dir")
	if [ ! -e "$dir$p.1" ] || left_out "$p"; then
		continue
	fi
	options "$p" >"$tmp/options"
	cat "$tmp/options" >>"$tmp/all"
	sed "s/^/$p /" "$tmp/options" >>"$tmp/mine"
	grep "^$p " "$tmp/others" | cut -d' ' -f2- >"$tmp/its"
	is "$(grep -vxFf "$tmp/letters" "$tmp/options" | grep -vxFf "$tmp/its")" \
	    "" "$p: each letter has the meaning in the table"
	if [ "$p" = snap ]; then
		grep -q 'timeout$' "$tmp/options"
		ok $? "options are found"
	fi
done
is "$(cut -d' ' -f1 "$tmp/letters" | sort | uniq -d)" "" \
    "each letter is in the table once"
is "$(cut -d' ' -f2 "$tmp/letters" | sort | uniq -d)" "" \
    "each long name is in the table once"
is "$(sort -u "$tmp/letters" | grep -vxFf "$tmp/all")" "" \
    "some program has each letter of the table"
if [ "$count" -eq 17 ]; then
	is "$(grep -vxFf "$tmp/mine" "$tmp/others")" "" \
	    "each exception is still an option of its program"
else
	skip "each exception is still an option" "some programs are not built"
fi
finish "$count"
