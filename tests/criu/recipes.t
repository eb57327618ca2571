#!/usr/bin/env bash
# The recipes of snap(7) that end with "criu restore" work as they are printed
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

page=$tests/../cmd/snap/snap.7

# before N: the commands of recipe N before the restore, a line each
before() {
	page_commands "$page" | awk -v n="$1" 'BEGIN { RS = ""; FS = "\n" }
	    /\nssh far criu restore/ && ++i == n {
		for (f = 1; f <= NF; f++)
			if ($f !~ /criu restore/) print $f }' | sed "s/\<4711\>/$pid/g"
}

restoring=$(page_commands "$page" | grep '^ssh far criu restore' | sort -u)
is "$(wc -l <<<"$restoring")" 1 "one way to restore"
for i in 1 2; do
	start counter 2
	until_true longer 20
	rm -rf "$tmp/images" "$tmp/far/images"
	mkdir "$tmp/images"
	cp "$log" "$tmp/log.before"
	what=$(before "$i")
	ok $((${#what} == 0)) "recipe $i: snap(7) has it"
	try "$(sed "s/\<$pid\>/4711/g" <<<"$what" | tr '\n' ';')" \
	    timeout 60 bash -ec "$what"
	case $what in
	*"snap -k"*)
		until_true reaped "$pid"
		ok $? "recipe $i: it has ended"
		was=$(lines)
		;;
	*)
		end_taken
		;;
	esac
	try "$restoring" timeout 60 bash -c "$restoring"
	case $what in
	*"snap -k"*) counts_on "recipe $i: no number is written twice" "$was" ;;
	*) goes_on "recipe $i" ;;
	esac
	end
done

# move KIND OPTION ...: the target writes a file while it moves.  Without -k,
# numbers after the snapshot are written twice; with -k, none is.
move() {
	rm -rf "$tmp/images"
	start counter 2
	until_true longer 20
	if [ "$1" = file ]; then
		timeout 60 snap -r "${@:2}" -o "$tmp/x.snap" "$pid" 2>"$tmp/try"
	else
		(set -o pipefail
		timeout 60 snap -r "${@:2}" "$pid" 2>"$tmp/try" |
		    cat >"$tmp/x.snap")
	fi
	ok $? "moved, ${*:2} to a $1: taken" || diag <"$tmp/try"
	was=$(lines)
	if [ "$2" != -k ]; then
		until_true longer $((was + 20))
		end
	fi
	until_true reaped "$pid"
	timeout 60 snapload -D "$tmp/images" "$tmp/x.snap" 2>"$tmp/try"
	ok $? "moved, ${*:2} to a $1: loaded" || diag <"$tmp/try"
	restore "$tmp/images"
}
move file -s
until_true longer $(($(lines) + 20))
is "$(cut -d' ' -f1,2 "$log" | sort | uniq -d | head -c1 | wc -c)" 1 \
    "moved without -k: a number is written twice"
end
move file -k
counts_on "moved with -k to a file: no number is written twice" "$was"
end
move pipe -k -z
counts_on "moved with -kz to a pipe: no number is written twice" "$was"
end
finish 26
