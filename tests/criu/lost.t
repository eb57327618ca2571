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
finish 1
