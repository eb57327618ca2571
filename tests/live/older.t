#!/usr/bin/env bash
# Without PAGEMAP_SCAN and PROCMAP_QUERY, as on kernels before 6.7, snapshots
# have the same memory, and pagestat prints the same.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# columns of a mapping that do not depend on other processes
each=(-mnb -o "start,rss,swap,huge,zero,guard,thp")

older=$targets/older
"$older" true || {
	skip "an older kernel" "may not have a filter of system calls"
	finish 1
}
head -c 65536 /dev/urandom >"$tmp/pub/file"
chmod 666 "$tmp/pub/file"
# it reserves less address space on such a kernel
target "$older" "$targets/pages" "$tmp/pub/file" 100
kill -STOP "$pid"
until_true grep -q '^State:.T' "/proc/$pid/status"
"$BUILD/pagestat" "${each[@]}" "$pid" >"$tmp/new"
"$older" "$BUILD/pagestat" "${each[@]}" "$pid" >"$tmp/old"
try "pages of each kind" diff "$tmp/new" "$tmp/old"
is "$(awk '/^expect zero/ { at = $3 } $1 == at { print $5 / 1024 }' "$lines" \
    "$tmp/old")" 120 "zero pages"

# Snapshots without these calls: memory, and the pages in a record.
for what in anon shared manymaps lacking; do
	target "$targets/$what"
	for mode in -l -s; do
		as=("$older")
		snap "$mode" -o "$tmp/snap" "$pid"
		as=(env)
		check "$tmp/snap" "$pid" "$what, $mode" "$(is_root || echo -o)"
	done
	unnoticed "$pid" "$what: not noticed"
done
if is_root; then
	mkdir "$tmp/dir"
	target "$targets/openfiles" "$tmp/dir"
	as=("$older")
	snap -r -o "$tmp/snap" "$pid"
	as=(env)
	try "its private pages" python3 "$tests/live/openfiles.py" \
	    "$tmp/snap" "$pid" "$lines"
	pagestat=$BUILD/pagestat
	as_nobody
	cp "$pagestat" "$tmp/bin"
	chmod 755 "$tmp/bin/pagestat"
	target "$targets/older" "$targets/pages" "$tmp/pub/file" 100
	kill -STOP "$pid"
	until_true grep -q '^State:.T' "/proc/$pid/status"
	"$BUILD/pagestat" "${each[@]}" "$pid" 2>/dev/null >"$tmp/new"
	"${as[@]}" "$targets/older" "$BUILD/pagestat" "${each[@]}" "$pid" \
	    2>/dev/null >"$tmp/old"
	try "nobody: pages of each kind" diff "$tmp/new" "$tmp/old"
else
	skip "as root and nobody" "not root" 2
fi
finish 16
