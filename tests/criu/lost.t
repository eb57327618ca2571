#!/usr/bin/env bash
# State that criu would lose without a message is refused, or a message names
# it, or snap records it in a form that criu restores.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# a periodic timer that is not read: the kernel counts its expirations only when
# it is asked
start "$here/lost.py" ticks
"$BUILD/snap" -kr "$pid" 2>"$tmp/err" |
    "$BUILD/snapload" -D "$tmp/ticks" >"$tmp/command" 2>"$tmp/err"
is "$(python3 - "$here" "$tmp/ticks" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import imgread
for message in imgread.read(sys.argv[2] + '/files.img'):
    timer = message.get('tfd')
    if timer:
        print(40 <= timer['ticks'], timer['vsec'], timer['vnsec'] < 10**7)
END
)" 'True 0 True' 'the expirations of a timer are counted'
end
end

# each line is a kind of lost.py, the exit status of snapload, and a part of its
# message
while read -r what status why; do
	start "$here/lost.py" "$what"
	if grep -q '1$' "$log"; then
		skip "$what: $why" 'not on this kernel'
	else
		"$BUILD/snap" -ro "$tmp/snap" "$pid"
		"$BUILD/snapload" -c "$tmp/snap" >"$tmp/err" 2>&1
		is "$? $(grep -Foc "$why" "$tmp/err")" "$status 1" \
		    "$what: $why" || diag <"$tmp/err"
	fi
	end
done <<'EOL'
urgent 1 it has urgent data: cannot be restored
ldt 1 it uses its local descriptor table (modify_ldt(2)), which criu does not
child 0 its exit signal, 12, becomes SIGCHLD when it is restored
listener 0 a descriptor queued in a socket: 1 connection not yet accepted: not
EOL
finish 5
