#!/usr/bin/env bash
# Java's own debugger prints the same for our core of a JVM as for the live JVM.
# The heap of the JVM is partly in a mapped archive.
# beside: live long unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if ! command -v jhsdb >/dev/null; then
	skip_all "no jhsdb"
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
if ! (cd "$tmp" && "$java"c -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC \
    Deep.java) >"$tmp/err" 2>&1; then
	skip_all "no javac"
fi

# jstack runs for a second: compile little; jmap repeats much, and is slower so
quick='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

# frames: print the frames of all threads without addresses, and errors
frames() {
	grep -oE '^"[^"]*"| - [^ ]*\(.*\) @bci.*|.*(Exception|Error).*'
}
jstack() {
	JAVA_TOOL_OPTIONS=$quick timeout 60 "${java%java}jhsdb" jstack "$@" \
	    2>&1 | frames
}

# recipe WORD: run the line for WORD in snap(7) in the process's directory
recipe() {
	(cd "$tmp/mnt.$gc/$pid" && PATH=${java%/java}:$PATH timeout 60 bash -c \
	    "$(page_commands "$tests/../cmd/snap/snap.7" |
	    grep "^jhsdb .*$1")") 2>&1
}
# objects FILE: print a histogram's numbers of strings and byte arrays
objects() {
	grep -E '[[:space:]](java.lang.String|byte\[\])$' "$1" |
	    sed 's/^[0-9]*://'
}

for gc in UseG1GC UseZGC; do
	target "$java" -Xmx64m "-XX:+$gc" -cp "$tmp" Deep
	jstack --pid "$pid" >"$tmp/live"
	if [ "$(grep -c 'Deep.deep' "$tmp/live")" -ne 10 ] ||
	    grep -qE 'Exception|Error' "$tmp/live"; then
		skip "$gc" 'jhsdb fails on the live process as well' 8
		continue
	fi
	for flag in -s -l; do
		snap "$flag" -o "$tmp/snap" "$pid"
		is "$rc $err" "0 " "$gc, $flag: taken"
		"$BUILD/snapcore" -o "$tmp/core" "$tmp/snap"
		jstack --exe "$java" --core "$tmp/core" >"$tmp/dead"
		try "$gc, $flag: as the live one" diff "$tmp/live" "$tmp/dead"
	done
	if [ -e /dev/fuse ] && [ -x "$BUILD/snapfs" ]; then
		mkdir "$tmp/mnt.$gc"
		"$BUILD/snapfs" "$tmp/snap" "$tmp/mnt.$gc"
		JAVA_TOOL_OPTIONS=$quick recipe stack | frames >"$tmp/dead"
		is "$(grep -c 'Deep.deep(int) @bci' "$tmp/dead")" 10 \
		    "$gc, snap(7): jhsdb jstack"
		try "$gc, snapfs: as live" diff "$tmp/live" "$tmp/dead"
		: >"$tmp/live.histo"
		# jmap finds no objects of ZGC
		[ $gc = UseZGC ] || timeout 60 "${java%java}jhsdb" jmap \
		    --histo --pid "$pid" >"$tmp/live.histo" 2>&1
		if [ -n "$(objects "$tmp/live.histo")" ]; then
			recipe jmap >"$tmp/dead"
			is "$(objects "$tmp/dead")" \
			    "$(objects "$tmp/live.histo")" \
			    "$gc, snap(7): jhsdb jmap"
		else
			skip "$gc, snap(7): jhsdb jmap" \
			    'it finds none in the live process, either'
		fi
		umount "$tmp/mnt.$gc"
	else
		skip "$gc, snapfs: as live" 'no /dev/fuse' 3
	fi
	unnoticed "$pid" "$gc: not noticed"
done
finish 16
