#!/usr/bin/env bash
# Generated code has the names in the process's map for perf(1), if the map can
# be trusted; otherwise it has no names.
# shellcheck disable=SC2317 # called by until_true, trap
own_mounts=1
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
hide_debug
needs snapstack

leave() {
	[ "$BASHPID" -ne $$ ] || [ -z "$map" ] || rm -rf "$map"
	cleanup
}
map=
trap leave EXIT

case $(uname -m) in
x86_64 | aarch64) ;;
*)
	skip_all "not supported on this machine"
	;;
esac

# start COMMAND ...: start a target; $map is the name of its map
start() {
	[ -z "$map" ] || rm -rf "$map"
	target "$@"
	map=/tmp/perf-$pid.map
}

ended() {
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}

# made ARG ...: print the frame of generated code, live or in a snapshot
made() {
	"$BUILD/snapstack" "$@" | sed -n '/wait_called/{n;s/  #[0-9]* *//p;}'
}

take() {
	"$BUILD/snap" "$@" -o "$tmp/snap" "$pid" 2>"$tmp/err" ||
	    diag <"$tmp/err"
}

# taken WANT WHAT: test a snapshot, and the live process
taken() {
	take
	is "$(made "$tmp/snap")" "$1" "$2"
	is "$(made "$pid")" "$1" "$2, live"
}

nameless='0x200000106, in memory without a name (jit?)'
named='work app.js:3+0x6 (jit)'
start "$targets/jit"
taken "$nameless" "no map"
printf '200000000 100 before\n200000100 9 work app.js:3\n' >"$map"
printf '200000109 100 behind\n' >>"$map"
taken "$named" "a map"
take -n
is "$(made "$tmp/snap")" "$named" "without injected calls"
is "$("$BUILD/snapstack" -f "$tmp/snap" |
    grep -c ';work app.js:3;wait_called;.* 1$')" 1 "-f"
is "$("$BUILD/snapstack" -j "$tmp/snap" | jq -c '.frames[] |
    select(.jit) | [.function, .offset, .address]')" \
    '["work app.js:3",6,"200000106"]' "-j"
is "$("$BUILD/snapls" -l "$tmp/snap" >/dev/null 2>"$tmp/err"; echo "$?")" 0 \
    "the snapshot is whole" || diag <"$tmp/err"
printf '200000100 9 newest\n' >>"$map"
taken 'newest+0x6 (jit)' "the last line counts"
printf '200000102 1 unfinished' >>"$map"
taken 'newest+0x6 (jit)' "a last line without end does not count"

# files that are not maps
{
	head -c 100000 /dev/urandom
	printf '\n\n \n200000100\n200000100 \n200000100 9\n200000100 9 \n'
	printf 'x 9 a\n-200000100 9 b\n200000100 -9 c\n200000100 0 d\n'
	printf '00000000200000100 9 e\n0 ffffffffffffffff f\n'
	printf '200000100 ffffffffffffffff g\nffffffffffffffff 9 h\n'
	printf '200000100 9 i'
} >"$map"
taken "$nameless" "garbage"
{
	for ((i = 0; i < 1000; i++)); do
		printf '%x %x n%d\n' $((0x200000000 + i)) $((1000 - i)) "$i"
		printf '200000000 100000 all%d\n' "$i"
	done
} >"$map"
taken 'all999+0x106 (jit)' "lines that overlap"
{
	printf '0x200000100 0X9 \033[31mred\t'
	head -c 5000 /dev/zero | tr '\0' x
	echo
} >"$map"
is "$(made "$pid" | tr -d 'x?' | tr -c '[:print:]\n' '!')" \
    '[31mred+06 (jit)' "a long name, and control characters"
{
	printf '200000100 9 first\n'
	yes "300000000 1 $(printf %0200d 0)" | head -c $((64 << 20))
	printf '200000100 9 last\n'
} >"$map"
taken 'first+0x6 (jit)' "only the first 64 megabytes count"

# maps that are not trusted
printf '200000100 9 work app.js:3\n' >"$map"
mv "$map" "$map.x"
ln -s "${map##*/}.x" "$map"
taken "$nameless" "a link"
rm "$map"
ln "$map.x" "$map"
taken "$nameless" "a file with another name"
rm "$map" "$map.x"
mkfifo "$map"
taken "$nameless" "a fifo"
rm "$map"
if is_root; then
	printf '200000100 9 work app.js:3\n' >"$map"
	chown 64992 "$map"
	taken "$nameless" "a file of another user"
else
	skip "a file of another user" "not root" 2
fi
rm -f "$map"
let_go "$pid" "it runs on"
unnoticed "$pid" "not noticed"

start "$targets/jit" memfd
printf '200000000 1000 work app.js:3\n' >"$map"
taken 'work app.js:3+0x106 (jit)' "code in memory with a name"
ended
rm -f "$map"

if is_root && unshare -mp --fork true 2>/dev/null; then
	# it sees another PID and another /tmp, where the program may be as well
	inside='exec 3<"$0"
	    mount -t tmpfs none /tmp
	    cp /proc/self/fd/3 /tmp/jit
	    chmod 755 /tmp/jit
	    exec 3<&-
	    echo 200000100 9 "work app.js:3" >"/tmp/perf-$$.map"
	    exec /tmp/jit'
	start unshare -mp --fork --kill-child sh -c "$inside" "$targets/jit"
	outer=$pid
	pid=$(pgrep -P "$outer")
	taken "$named" "with a PID and a /tmp of its own"
	pid=$outer
	ended
	# a map of root that the process can read or not, and one of its own
	as=(setpriv --reuid 64992 --regid 64992 --clear-groups)
	start "$targets/jit"
	as=(env)
	printf '200000100 9 work app.js:3\n' >"$map"
	chmod 644 "$map"
	taken "$named" "a file of root that it can read"
	chmod 600 "$map"
	taken "$nameless" "a file of root that it cannot read"
	chown 64992 "$map"
	taken "$named" "a file of its own"
	ended
	rm -f "$map"
else
	skip "maps of others" "no namespaces, or not root" 8
fi

if is_root && [ -w /dev/fuse ] && [ "${targets#/tmp/}" = "$targets" ]; then
	target "$targets/served" /tmp hang
	server=$pid
	as=(nsenter -t "$server" -m)
	start "$targets/jit"
	as=(env)
	"$BUILD/snap" -t 1 -o "$tmp/snap" "$pid" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "1 snap: perf-$pid.map: no answer in 1 \
seconds: not captured (use -t to wait longer)" \
	    "a silent server of /tmp: a message"
	is "$(made "$tmp/snap")" "$nameless" \
	    "a silent server of /tmp: all else is captured"
	"$BUILD/snap" -n -t 1 -o "$tmp/snap" "$pid" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "0 " \
	    "a silent server of /tmp: not asked with -n"
	let_go "$pid" "it runs on"
	ended
	kill -KILL "$server"
	wait "$server" 2>/dev/null
else
	skip "a silent server of /tmp" "needs root and /dev/fuse" 4
fi

if command -v node >/dev/null; then
	cat >"$tmp/app.js" <<'END'
function spinning_here() {
	for (let i = 0, n = 0;; i = (i + 1) % 1000)
		n += Math.sqrt(i);
}
console.log("ready");
spinning_here();
END
	start env -C "$tmp" node --perf-basic-prof "$tmp/app.js"
	hot() {
		"$BUILD/snapstack" -T "$pid" "$pid" |
		    grep -q 'spinning_here.*+0x[0-9a-f]* (jit)$'
	}
	until_true hot
	ok $? "node" || "$BUILD/snapstack" -T "$pid" "$pid" | diag
	take
	"$BUILD/snapstack" "$tmp/snap" | grep -q 'spinning_here.* (jit)$'
	ok $? "node: a snapshot"
	ended
else
	skip "node" "no node" 2
fi
if command -v javac >/dev/null && command -v jcmd >/dev/null; then
	cat >"$tmp/Spin.java" <<'END'
public class Spin {
	static double spinning(int n) {
		double sum = 0;
		for (int i = 0; i < n; i++)
			sum += Math.sqrt(i);
		return sum;
	}
	public static void main(String[] args) {
		System.out.println("ready");
		for (double all = 0;; all += spinning(100000))
			continue;
	}
}
END
	# compile less: they run for a moment only
	quick=(-J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC)
	javac "${quick[@]}" -d "$tmp" "$tmp/Spin.java" >"$tmp/err" 2>&1
	start java -XX:+UseSerialGC -Xmx64m -cp "$tmp" Spin
	mapped() {
		jcmd "${quick[@]}" "$pid" Compiler.perfmap
		"$BUILD/snapstack" -f "$pid" | grep -q ';double Spin\.spinning'
	}
	# the method may be compiled again after the map was written
	in_snapshot() {
		jcmd "${quick[@]}" "$pid" Compiler.perfmap
		take
		"$BUILD/snapstack" "$tmp/snap" |
		    grep -q ' double Spin\.spinning(int)+0x.* (jit)$'
	}
	if jcmd "${quick[@]}" "$pid" help 2>/dev/null | grep -q Compiler.perfmap; then
		until_true mapped
		ok $? "java" || "$BUILD/snapstack" -f "$pid" | diag
		until_true in_snapshot
		ok $? "java: a snapshot"
	else
		skip "java" "it makes no map for perf" 2
	fi
	ended
else
	skip "java" "no javac, or no jcmd" 2
fi
finish 47
