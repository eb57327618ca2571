#!/usr/bin/env bash
# Locks and leases on files are restored: those of processes, those of open
# files that processes share, and leases that are being broken.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# locks_all: print the locks of all processes, a line each, without the inode,
# which is another one after a restore
locks_all() {
	local p

	for p in $(pgrep -s "$pid"); do
		for f in "/proc/$p/fdinfo"/*; do
			sed -n "s/^lock:.[0-9]*:/${f//\//.}/p" "$f"
		done
	done | sed 's/ [0-9a-f]*:[0-9a-f]*:[0-9]* / /' | sort
}

for how in -r -sr; do
	start "$here/locks.py"
	until_true longer 100
	before=$(locks_all)
	is "$(grep -c . <<<"$before")" 26 "snap $how: 26 locks"
	is "$(awk '{ print $2, $3, $4 }' <<<"$before" | sort -u)" \
	    'FLOCK ADVISORY READ
FLOCK ADVISORY WRITE
LEASE ACTIVE READ
LEASE ACTIVE WRITE
LEASE BREAKING READ
LEASE BREAKING UNLCK
OFDLCK ADVISORY READ
OFDLCK ADVISORY WRITE
POSIX ADVISORY READ
POSIX ADVISORY WRITE' "snap $how: of all kinds"
	take "$tmp/there" "$how"
	is "$(locks_all)" "$before" "snap $how: none is lost"
	end_taken
	flock -n "$log.whole" true
	ok $? "snap $how: no lock is held after the end"
	restore "$tmp/there" --file-locks
	goes_on "snap $how"
	is "$(locks_all)" "$before" "snap $how: all are restored"
	! flock -n "$log.whole" true
	ok $? "snap $how: a restored lock keeps others out"
	end
	rm -rf "$tmp/there" "$log".*
done
finish 20
