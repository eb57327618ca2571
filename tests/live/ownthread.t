#!/usr/bin/env bash
# snapload refuses a thread that does not share with its process what criu
# restores for all threads, and namespaces of children only, by name.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

is_root || skip_all 'namespaces need root'

# refused WHAT LINES [SNAP-OPTION ...]: snapload prints LINES for a target
refused() {
	local what=$1 want=$2 got

	shift 2
	target "$targets/ownthread" "$what"
	timeout 60 "$BUILD/snap" -rs "$@" -o "$tmp/snap" "$pid" >"$tmp/err" 2>&1
	is "$? $(cat "$tmp/err")" '0 ' "$what: snap -s $*"
	got=$("$BUILD/snapload" -f pipe -p "$pid" -D "$tmp/dir" "$tmp/snap" 2>&1 |
	    grep -vE "joins the session of criu|descriptor [012]:|a pipe|: needs criu " |
	    sed 's/\<[1-9][0-9]*\>/N/g; s/^criu restore .*/restored/')
	is "$got" "$want" "$what: snapload"
	rm -rf "$tmp/dir"
	unnoticed "$pid" "$what: not noticed"
}

no='nothing is written'
for what in files fs net:ns/net uts:ns/uts; do
	refused "${what%:*}" "snapload: process N, thread N: not shared with its \
process: ${what#*:}: cannot be restored
snapload: $no"
done
for what in time pid; do
	refused "$what" "snapload: process N: its children would be in \
another $what namespace: cannot be restored
snapload: $no"
done
refused nobody restored
finish 21
