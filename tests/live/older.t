#!/usr/bin/env bash
# As on kernels before 6.7, without PAGEMAP_SCAN and PROCMAP_QUERY: snapshots
# have the same memory, and what is told of pages is the same.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# what is told of each mapping by one who has others beside it
each=(-mnb -o "start,rss,swap,huge,zero,guard,thp")

older=$targets/older
"$older" true || {
	skip "an older kernel" "may not have a filter of system calls"
	finish 1
}
head -c 65536 /dev/urandom >"$tmp/pub/file"
chmod 666 "$tmp/pub/file"
target "$targets/pages" "$tmp/pub/file" 100
kill -STOP "$pid"
until_true grep -q '^State:.T' "/proc/$pid/status"
"$BUILD/pagestat" "${each[@]}" "$pid" >"$tmp/new"
"$older" "$BUILD/pagestat" "${each[@]}" "$pid" >"$tmp/old"
try "pages of each sort" diff "$tmp/new" "$tmp/old"
is "$(awk '/^expect zero/ { at = $3 } $1 == at { print $5 / 1024 }' "$lines" \
    "$tmp/old")" 120 "zero pages"

# As each kernel takes them, memory and what a record tells of pages.
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
	try "which pages are its own" python3 "$tests/live/openfiles.py" \
	    "$tmp/snap" "$pid" "$lines"
	pagestat=$BUILD/pagestat
	as_nobody
	cp "$pagestat" "$tmp/bin"
	chmod 755 "$tmp/bin/pagestat"
	target "$targets/pages" "$tmp/pub/file" 100
	kill -STOP "$pid"
	until_true grep -q '^State:.T' "/proc/$pid/status"
	"$BUILD/pagestat" "${each[@]}" "$pid" 2>/dev/null >"$tmp/new"
	"${as[@]}" "$targets/older" "$BUILD/pagestat" "${each[@]}" "$pid" \
	    2>/dev/null >"$tmp/old"
	try "nobody: pages of each sort" diff "$tmp/new" "$tmp/old"
else
	skip "of others" "not root" 2
fi
finish 16
