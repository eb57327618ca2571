#!/bin/sh
# tests/demo prints few lines, and fails if one of its steps fails.
set -u

cd "$(dirname "$0")/.." || exit 1
build=$(cd "${BUILD:-build}" && pwd) || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
n=0
apart=		# the command that runs the demonstration

# demo PROGRAM SCRIPT: run the demonstration with SCRIPT in place of PROGRAM
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
ok $? 'all steps succeed'
[ "$(wc -l <"$dir/out")" -le 60 ]
ok $? 'it prints at most 60 lines'
! grep -q "$(printf '\033')" "$dir/out"
ok $? 'it prints no escape sequences to a file'
demo snap 'exit 1'
ok $((! $?)) 'it fails if snap fails'
demo snap "'$build/snap' \"\$@\"; for p; do :; done; kill -STOP \"\$p\""
ok $((! $?)) 'it fails if a process is left stopped'
demo snapls 'exit 1'
ok $((! $?)) 'it fails if snapls fails'
for p in snapstack snapfs snapdiff; do
	if [ ! -x "$build/$p" ] || { [ "$p" = snapfs ] && [ ! -w /dev/fuse ]; }
	then
		n=$((n + 1))
		echo "ok $n - it fails if $p fails # SKIP it cannot run"
		continue
	fi
	demo "$p" 'exit 2'
	ok $((! $?)) "it fails if $p fails"
done

# a new pid namespace, where no other process takes the pids of killed ones
if [ -x "$build/criu/criu" ] && [ "$(id -u)" -eq 0 ] &&
    "$build/criu/criu" check >/dev/null 2>&1; then
	apart='unshare --fork --pid --mount --mount-proc --kill-child'
	demo criu "exec '$build/criu/criu' \"\$@\"" &&
	    [ -z "$(tail -n 1 "$dir/out" | tr -d '0-9')" ]
	ok $? 'the restored process counts on from its last number'
else
	n=$((n + 1))
	echo "ok $n - the restored process counts on # SKIP no criu"
fi
echo "1..$n"
