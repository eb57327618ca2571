#!/usr/bin/env bash
# A letter means one thing in all programs: what its long name says.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

# The letters, each with its long name: a new option takes one of these, if it is
# the same thing, or a letter that is free, or none.
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

# Programs where a letter means something else, as their users know it from
# pmap(1), grep(1) and mount(8), in tables from lsblk(8) (-n, -o), or from before
# there was one table: no new ones.
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

# options of program $1: letters with their long names
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
	    "" "$p: each letter means what the table says"
	if [ "$p" = snap ]; then
		grep -q 'timeout$' "$tmp/options"
		ok $? "options are found"
	fi
done
is "$(cut -d' ' -f1 "$tmp/letters" | sort | uniq -d)" "" \
    "a letter means one thing"
is "$(cut -d' ' -f2 "$tmp/letters" | sort | uniq -d)" "" \
    "a thing has one letter"
is "$(sort -u "$tmp/letters" | grep -vxFf "$tmp/all")" "" \
    "each letter of the table is one of some program"
if [ "$count" -eq 17 ]; then
	is "$(grep -vxFf "$tmp/mine" "$tmp/others")" "" \
	    "each program that means something else still does"
else
	skip "each program that means something else" "some are not built"
fi
finish "$count"
