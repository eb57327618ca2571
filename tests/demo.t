#!/bin/sh
# The demonstration prints few lines, and fails where one of its steps does.
set -u

cd "$(dirname "$0")/.." || exit 1
build=$(cd "${BUILD:-build}" && pwd) || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
n=0
apart=		# what the demonstration is run with

# demo PROGRAM SCRIPT: its status, with a script in place of a program
demo() {
	rm -rf "${dir:?}/bin"
	mkdir "$dir/bin"
	for f in snap snapls snapstack snapfs snapdiff snapload; do
		if [ -x "$build/$f" ]; then
			ln -s "$build/$f" "$dir/bin"
		fi
	done
	rm -f "$dir/bin/$1"
	printf '#!/bin/sh\n%s\n' "$2" >"$dir/bin/$1"
	chmod +x "$dir/bin/$1"
	BUILD=$dir/bin $apart tests/demo >"$dir/out" 2>&1
}

ok() {
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# /' "$dir/out"
	fi
}

demo snap "exec '$build/snap' \"\$@\""
ok $? 'it shows what is in a snapshot'
[ "$(wc -l <"$dir/out")" -le 60 ]
ok $? 'in at most 60 lines'
! grep -q "$(printf '\033')" "$dir/out"
ok $? 'without escape sequences in a file'
demo snap 'exit 1'
ok $((! $?)) 'no snapshot is taken'
demo snap "'$build/snap' \"\$@\"; for p; do :; done; kill -STOP \"\$p\""
ok $((! $?)) 'a process does not run afterwards'
demo snapls 'exit 1'
ok $((! $?)) 'snapls fails'
for p in snapstack snapfs snapdiff; do
	if [ ! -x "$build/$p" ] || { [ "$p" = snapfs ] && [ ! -w /dev/fuse ]; }
	then
		n=$((n + 1))
		echo "ok $n - $p fails # SKIP it cannot run"
		continue
	fi
	demo "$p" 'exit 2'
	ok $((! $?)) "$p fails"
done

# in a pid namespace of its own, where the numbers of what was killed stay free
if [ -x "$build/criu/criu" ] && [ "$(id -u)" -eq 0 ] &&
    "$build/criu/criu" check >/dev/null 2>&1; then
	apart='unshare --fork --pid --mount --mount-proc --kill-child'
	demo criu "exec '$build/criu/criu' \"\$@\"" &&
	    [ -z "$(tail -n 1 "$dir/out" | tr -d '0-9')" ]
	ok $? 'the count goes on where it stood'
else
	n=$((n + 1))
	echo "ok $n - the count goes on where it stood # SKIP no criu"
fi
echo "1..$n"
