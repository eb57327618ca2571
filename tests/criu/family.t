#!/usr/bin/env bash
# A process tree with a pipe, shared memory, a memfd and a zombie is dumped and
# restored through a snapshot.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"
may_dump || skip_all "$undumped"

i=0
start family
family=$(pgrep -s "$pid")
is "$(wc -w <<<"$family")" 4 "parent, child, grandchild and zombie"
dump "$pid" "$tmp/dump"
n=$(lines)
images "$tmp/dump" "$tmp/snap"
"$BUILD/snapls" "$tmp/snap" >"$tmp/list" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "snapls"
for p in $family; do
	ok "$((! $(grep -cw "$p" "$tmp/list")))" \
	    "snapls: process $((i += 1)) is listed"
done
load "$tmp/snap" "$tmp/there"
try "the same images" same_images "$tmp/dump" "$tmp/there"
is "$(lines)" "$n" "all have ended"
restore "$tmp/there"
counts_on "family" "$n"
is "$(tail -n +"$((n + 1))" "$log" | cut -d' ' -f1 | sort -u | tr '\n' ' ')" \
    "child grandchild parent " "all of them count"
kill -USR1 "$pid"
until_true grep -q '^zombie' "$log"
is "$(grep '^zombie' "$log")" "zombie 7 0" "the zombie has its status"
end
finish 16
