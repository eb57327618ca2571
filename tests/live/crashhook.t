#!/usr/bin/env bash
# A hook of snapcrash that hangs does not hinder later crashes: they are
# captured.  At most at-once hooks run, and waiting hooks wait.
# beside: nothing
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin
snapcrash_begin
config "at-once 1" "waiting 1" "hook $tmp/hook"
mkfifo "$tmp/fifo"
cat >"$tmp/hook" <<END
#!/bin/sh
echo "\$1" >>"$tmp/began"
read -r word <"$tmp/fifo"
END
chmod 755 "$tmp/hook"
began() {
	[ "$(wc -l <"$tmp/began")" -eq "$1" ]
}
# handlers N: N handlers run, and the others have ended
handlers() {
	[ "$(pgrep -cf "snapcrash -c$conf take")" -eq "$1" ]
}
ends() {
	echo ends >"$tmp/fifo"
}
: >"$tmp/began"
handle
ids=()
for ((i = 0; i < 4; i++)); do
	falls "$targets/fall" segv 0
	ids+=("$id")
	if [ "$i" -eq 0 ]; then
		until_true began 1
	else
		until_true handlers 2
	fi
done
got=0
for id in "${ids[@]}"; do
	"$BUILD/snapls" -c "$store/$id" >"$tmp/try" 2>&1 || got=1
done
is "$got ${#ids[@]}" "0 4" "all crashes are captured while the first hook hangs"
is "$(cat "$tmp/began")" "$store/${ids[0]}" "one hook runs"
ends
until_true began 2
is "$(tail -1 "$tmp/began")" "$store/${ids[1]}" "another one waited for it"
ends
until_true none_runs
is "$(wc -l <"$tmp/began")" 2 "hooks without a place did not run"
falls "$targets/fall" segv 0
until_true began 3
ends
until_true none_runs
is "$(tail -1 "$tmp/began")" "$store/$id" "later hooks run as before"
rm -rf "$store"
finish 5
