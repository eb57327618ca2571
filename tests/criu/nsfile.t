#!/usr/bin/env bash
# Open namespaces are those of the process after a restore; other namespaces are
# refused.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

start "$here/nsfile.py"
until_true longer 20
is "$(awk '$3 != 0' "$log")" '' 'nothing is wrong before'
moves nsfile "$tmp/there" -r
end

start "$here/nsfile.py" other
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
is "$? $(grep -c 'a namespace of a kind that is newly created' "$tmp/err")" '1 1' \
    'another namespace: refused'
end
finish 6
