#!/usr/bin/env bash
# A file that its path does not lead to is refused: its mount is detached, or
# another mount covers it.  So is one whose path is too long for open(2).
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

lazy='a file of a mount that is detached or in another namespace'
# shellcheck disable=SC2034 # used as ${!mount}
covered='a file that another mount covers'

# wanted WHAT WHY: the last line for this process, without its address
wanted() {
	case $1 in
	open) echo "process $pid, descriptor 4: $2: $log.d/in/file" ;;
	map) echo "process $pid: mapping at X of $log.d/in/file: $2" ;;
	*) echo "process $pid: its $1 is $log.d/in, $2: cannot be restored" ;;
	esac
}
told() {
	sed -n 's/^snap[a-z]*: process/process/p' | sed "s/at [0-9a-f]* of/at X of/
s/: cannot be restored (.*-f other leaves it out)//" |
	    tail -n 1
}

for mount in lazy covered; do
	for what in open map cwd root; do
		start "$here/hidden.py" $mount $what
		until_true longer 2
		is "$("$BUILD/snap" -d -r "$pid" 2>&1 | told)" \
		    "$(wanted $what "${!mount}")" "$mount, $what: snap -d"
		[ $what$mount = openlazy ] || {
			end
			continue
		}
		"$BUILD/snap" -k "$pid" 2>"$tmp/err" >"$tmp/snap"
		is "$? $(told <"$tmp/err")" "1 $(wanted $what "${!mount}")" \
		    'snap -k kills nothing'
		"$BUILD/snap" -ro "$tmp/snap" "$pid"
		"$BUILD/snapload" -D "$tmp/none" "$tmp/snap" 2>"$tmp/err"
		is "$? $(told <"$tmp/err")" "1 $(wanted $what "${!mount}")" \
		    'snapload refuses it'
		"$BUILD/snapload" -f other -D "$tmp/left" "$tmp/snap" \
		    >"$tmp/out" 2>"$tmp/err"
		is "$? $(sed 's/.*: //' "$tmp/err")" '1 left out' \
		    'snapload -f other leaves it out'
		end
	done
done

for what in open map; do
	start "$here/hidden.py" long $what
	until_true longer 2
	"$BUILD/snap" -d -r "$pid" >"$tmp/out" 2>&1
	is "$(told <"$tmp/out" | sed 's,/d*\>,,g')" "$(
	    [ $what = open ] && echo "process $pid, descriptor 4: a file whose \
path is too long" || echo "process $pid: mapping at X of $log.d/file: a file \
whose path is too long")" "a long path, $what: refused"
	end
done

# in a mount namespace that criu does not create
in=(unshare --mount)
start "$here/hidden.py" lazy map
in=(env)
until_true longer 2
is "$("$BUILD/snap" -d -r "$pid" 2>&1 | told)" "$(wanted map "$lazy")" \
    'in another mount namespace'
end

# descriptors of its parent are from the namespace outside
in=(unshare --mount bash -c 'exec 8</etc/passwd 9>"$0.gone" &&
rm "$0.gone" && exec unshare --mount "$@" <&8 >&9' "$tmp/x")
cat >"$tmp/keeps" <<'EOP'
#!/usr/bin/env python3
import os, sys, time
os.setsid()
os.dup2(0, 2)
os.closerange(3, 1024)
log = open(sys.argv[1], 'w', buffering=1)
while True:
    print('keeps', file=log)
    time.sleep(.01)
EOP
chmod +x "$tmp/keeps"
start "$tmp/keeps"
in=(env)
until_true longer 2
for from in '' "nsenter -t $pid -m"; do
	# shellcheck disable=SC2086 # words
	try "files of another namespace at the same paths${from:+, within}" \
	    $from "$BUILD/snap" -d -r "$pid"
done
end

start "$here/hidden.py" fine
until_true longer 20
is "$(awk '$3 != 0' "$log" | head -n 3)" '' 'nothing is wrong before'
moves fine "$tmp/there" -r
end
finish 21
