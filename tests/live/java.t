#!/usr/bin/env bash
# Java's own debugger reads our cores of a JVM, whose heap is partly in an
# archive that is mapped, and tells what it tells of the live one.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if ! command -v jhsdb >/dev/null; then
	echo "1..0 # SKIP no jhsdb"
	exit 0
fi
java=$(dirname "$(readlink -f "$(command -v jhsdb)")")/java
cat >"$tmp/Deep.java" <<'END'
public class Deep {
	static int deep(int n) throws Exception {
		if (n == 0) {
			System.out.println("ready");
			return System.in.read();
		}
		return deep(n - 1) + n;
	}

	public static void main(String[] arg) throws Exception {
		deep(9);
		System.out.println("report nothing 0");
	}
}
END
if ! (cd "$tmp" && "$java"c Deep.java) >"$tmp/err" 2>&1; then
	echo "1..0 # SKIP no javac"
	exit 0
fi

# The frames of all threads, without addresses; what went wrong, if
# anything did.
jstack() {
	timeout 60 "${java%java}jhsdb" jstack "$@" 2>&1 |
	    grep -oE '^"[^"]*"| - [^ ]*\(.*\) @bci.*|.*(Exception|Error).*'
}

for gc in UseG1GC UseZGC; do
	target "$java" -Xmx64m "-XX:+$gc" -cp "$tmp" Deep
	jstack --pid "$pid" >"$tmp/live"
	if [ "$(grep -c 'Deep.deep' "$tmp/live")" -ne 10 ] ||
	    grep -qE 'Exception|Error' "$tmp/live"; then
		skip "$gc" 'jhsdb fails on the live process, too' 6
		continue
	fi
	for flag in -s -l; do
		snap ${flag#-s} -o "$tmp/snap" "$pid"
		is "$rc $err" "0 " "$gc, $flag: taken"
		"$BUILD/snapcore" -o "$tmp/core" "$tmp/snap"
		jstack --exe "$java" --core "$tmp/core" >"$tmp/dead"
		try "$gc, $flag: as live" diff "$tmp/live" "$tmp/dead"
	done
	if [ -e /dev/fuse ] && [ -x "$BUILD/snapfs" ]; then
		mkdir "$tmp/mnt.$gc"
		"$BUILD/snapfs" "$tmp/snap" "$tmp/mnt.$gc"
		jstack --exe "$java" --core "$tmp/mnt.$gc/$pid/core" \
		    >"$tmp/dead"
		try "$gc, snapfs: as live" diff "$tmp/live" "$tmp/dead"
		umount "$tmp/mnt.$gc"
	else
		skip "$gc, snapfs: as live" 'no /dev/fuse'
	fi
	unnoticed "$pid" "$gc: not noticed"
done
finish 12
