#!/usr/bin/env bash
# The recipes of README that end with "criu restore", as they are printed
# there: 4711 is a program that runs, and far is another directory.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

mkdir "$tmp/path" "$tmp/far"
cat >"$tmp/path/ssh" <<EOT
#!/bin/sh
cd "$tmp/far" && shift && exec sh -c "\$*"
EOT
cat >"$tmp/path/criu" <<EOT
#!/bin/sh
exec "$criu" "\$@"
EOT
chmod 755 "$tmp/path/ssh" "$tmp/path/criu"
PATH=$tmp/path:$BUILD:$PATH
cd "$tmp" || exit 1

# The commands of a recipe that come before the restore, a line each.
before() {
	awk -v n="$1" 'BEGIN { RS = ""; FS = "\n" }
	    /\tssh far criu restore/ && ++i == n {
		for (f = 1; f <= NF; f++)
			if ($f ~ /^\t/ && $f !~ /criu restore/) print $f }' \
	    "$tests/../README" | sed "s/\<4711\>/$pid/g"
}

restoring=$(grep -P '^\t.*criu restore' "$tests/../README" | sort -u)
is "$(wc -l <<<"$restoring")" 1 "one way to restore"
for i in 1 2; do
	start counter 2
	until_true longer 20
	rm -rf "$tmp/images" "$tmp/far/images"
	mkdir "$tmp/images"
	cp "$log" "$tmp/log.before"
	what=$(before "$i")
	ok $((${#what} == 0)) "recipe $i: is there"
	try "$(sed "s/\<$pid\>/4711/g;s/\t//" <<<"$what" | tr '\n' ';')" \
	    timeout 60 bash -ec "$what"
	end_taken
	try "${restoring##*	}" timeout 60 bash -c "$restoring"
	goes_on "recipe $i"
	end
done
finish 11
