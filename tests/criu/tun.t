#!/usr/bin/env bash
# A process with an open tun device, as virtual machines and VPNs have, in its
# own network namespace, without which criu does not dump it.  The images of
# criu's dump have two entries with one number.  snapload refuses the snapshot
# that snap takes.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

{ : <>/dev/net/tun; } 2>"$tmp/err" || skip_all "no tun: $(tail -n 1 "$tmp/err")"
command -v ip >/dev/null || skip_all 'no ip'
in=(unshare --net)
start "$here/tun.py"
in=(env)
"$BUILD/snap" -r -o "$tmp/live" "$pid" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" '0 ' 'snap'
"$BUILD/snapload" -D "$tmp/none" "$tmp/live" 2>"$tmp/err"
is "$? $(grep -c ': a device: .*/dev/net/tun: cannot be restored' "$tmp/err")" \
    '1 2' 'a snapshot by snap is refused'
mkdir "$tmp/dump"
if "$criu" dump --network-lock skip -t "$pid" -D "$tmp/dump" \
    -o "$tmp/criu.log" >/dev/null 2>&1; then
	n=$(lines)
	images "$tmp/dump" "$tmp/snap"
	load "$tmp/snap" "$tmp/images"
	try 'the same images' same_images "$tmp/dump" "$tmp/images"
	restore "$tmp/images"
	counts_on 'with its tun device' "$n"
else
	skip 'a dump by criu' "criu: $(grep Error "$tmp/criu.log" |
	    tail -n 2 | head -n 1)" 6
fi
end
finish 8
