#!/bin/sh
# The demonstration fails where one of its steps does.
set -u

cd "$(dirname "$0")/.." || exit 1
build=$(cd "${BUILD:-build}" && pwd) || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
n=0

# demo PROGRAM SCRIPT: its status, with a script in place of a program
demo() {
	rm -rf "${dir:?}/bin"
	mkdir "$dir/bin"
	ln -s "$build/snap" "$build/snapls" "$dir/bin"
	rm "$dir/bin/$1"
	printf '#!/bin/sh\n%s\n' "$2" >"$dir/bin/$1"
	chmod +x "$dir/bin/$1"
	BUILD=$dir/bin tests/demo >"$dir/out" 2>&1
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
demo snap 'exit 1'
ok $((! $?)) 'no snapshot is taken'
demo snap "'$build/snap' \"\$@\"; kill -STOP \"\$2\""
ok $((! $?)) 'a process does not run afterwards'
for o in '/*' -l -v; do
	demo snapls "case \$1 in $o) exit 1 ;; esac
	exec '$build/snapls' \"\$@\""
	ok $((! $?)) "snapls $o fails"
done
echo "1..$n"
