#!/usr/bin/env bash
# Seccomp modes are restored: filters of one thread and of all, in their order,
# and strict mode.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

start filtered
until_true longer 50
is "$(awk '$3 != 0' "$log")" '' 'nothing is wrong before'
is "$(cut -d ' ' -f 1 "$log" | sort -u | tr '\n' ' ')" \
    'common first other own strict ' 'all threads count'
moves filtered "$tmp/there" -r
: >"$log.more"
until_true grep -q '^more' "$log"
is "$(grep '^more' "$log")" 'more 1 0' 'threads still share their filters'
end

start filtered asks
until_true longer 20
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
is "$? $(sed -n "s/.*process $pid: \(a seccomp.*\)/\1/p" "$tmp/err")" \
    '1 a seccomp filter that asks another process: cannot be restored' \
    'a filter that notifies another process: refused'
end
finish 8
