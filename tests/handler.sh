# What tests share that set kernel.core_pattern (core(5)), which is the whole
# machine's: sourced behind tap.sh by who is to skip where it may not be set.
# shellcheck shell=bash disable=SC2034,SC2154 # for those that source it

proc=/proc/sys/kernel
was=$(cat "$proc/core_pattern")
waslimit=$(cat "$proc/core_pipe_limit")

# handler_lacks: print why it may not be set; nothing if it may
handler_lacks() {
	local d

	case $was in
	'|'*)
		echo "another program handles cores: $was"
		return
		;;
	esac
	if ! is_root || ! { echo "$was" >"$proc/core_pattern"; } 2>/dev/null
	then
		echo "core_pattern is not ours to set"
		return
	fi
	# the kernel runs a handler where kthreadd is
	for d in "$tmp" "$BUILD"; do
		if [ "$(cat /proc/2/comm 2>/dev/null)" != kthreadd ] ||
		    ! [ "$d" -ef "/proc/2/root$d" ]; then
			echo "the kernel runs handlers in the initial" \
			    "namespaces, where this test is not"
			return
		fi
	done
}

# handler_begin: end this test here where it may not be set; else put back what
# was there, however this test ends.  The process that waits for that is in a
# session of its own: tests/one kills the group of the test.
handler_begin() {
	local why

	why=$(handler_lacks)
	if [ -n "$why" ]; then
		skip_all "$why"
	fi
	# shellcheck disable=SC2016 # for the other shell
	setsid bash -c '
		tmp=$0 proc=$1 was=$2 waslimit=$3
		trap "" HUP INT TERM
		while kill -0 "$4"; do
			sleep 0.2
		done
		put_back' "$tmp" "$proc" "$was" "$waslimit" $$ \
	    </dev/null >/dev/null 2>&1 3>&- &
	disown
	trap 'put_back; cleanup' EXIT
	ulimit -c unlimited	# snapcrash keeps nothing where it is 0
}

# put_back: unless the next test has set it since
put_back() {
	if grep -qF "$tmp/" "$proc/core_pattern"; then
		echo "$was" >"$proc/core_pattern"
		echo "$waslimit" >"$proc/core_pipe_limit"
	fi
}
export -f put_back

# For snapcrash, which writes what is elsewhere for this test alone; its
# configuration is $conf, and the snapshots are below $store.
snapcrash_begin() {
	on_disk
	chmod 711 "$disk"
	store=$disk/store
	conf=$tmp/c
	mkdir "$tmp/lib" "$tmp/sysctl" "$tmp/units"
	mkdir -p /etc/sysctl.d
}

# config LINE ...
config() {
	printf '%s\n' "directory $store" "keep-free 0" "$@" >"$conf"
}

# crash WORD ...: run it; $rc, $err, and in $tmp/out what it prints; where there
# is a file $tmp/pattern, that is core_pattern, for the kernel lets nobody in
# another mount namespace set that to a socket; likewise $tmp/run is /run
crash() {
	unshare -m sh -c "mount --bind '$tmp/lib' /var/lib &&
	    { [ ! -e '$tmp/pattern' ] ||
	    mount --bind '$tmp/pattern' '$proc/core_pattern'; } &&
	    { [ ! -e '$tmp/run' ] || mount --bind '$tmp/run' /run; } &&
	    mount --bind '$tmp/sysctl' /etc/sysctl.d &&
	    { [ ! -d /etc/systemd/system ] ||
	    mount --bind '$tmp/units' /etc/systemd/system; } && exec \"\$@\"" - \
	    "$BUILD/snapcrash" -c "$conf" "$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	err=$(cat "$tmp/err")
}

# handle: have the kernel run it, which is not installed
handle() {
	mkdir "$store"
	echo "|$BUILD/snapcrash -c$conf take %P %I %s %d %u %F" \
	    >"$proc/core_pattern"
	echo 4 >"$proc/core_pipe_limit"
}

# taken NAME N: so many snapshots of a program are there
taken() {
	[ "$(find "$store" -name "$1.*.snap.gz" | wc -l)" -ge "$2" ]
}

# whole FILE: a snapshot among those is; what is in it is in $tmp/out
whole() {
	"$BUILD/snapls" -c "$store/$1" >"$tmp/out" 2>&1
}

# has_acls: the file system of the store has access control lists (acl(5))
has_acls() {
	python3 -c 'import errno, os, sys
try:
    os.getxattr(sys.argv[1], "system.posix_acl_access")
except OSError as e:
    sys.exit(e.errno == errno.EOPNOTSUPP)' "$store"
}

# readable: the user whose it is may read $id
readable() {
	[ -n "$(find "$store" -name "$id" -perm -g=r)" ]
}

# falls COMMAND ...: a target that crashes, and is taken: $id
falls() {
	target "$@"
	printf f >&"${ask_fd[$pid]}"
	wait "$pid" 2>/dev/null
	until_true taken "fall.$pid" 1
	id=$(cd "$store" && echo "fall.$pid."*)
}

# none_runs: of the handlers that the kernel starts
none_runs() {
	! pgrep -f "snapcrash -c$conf take" >/dev/null
}

# as_worker FILE: have a process of our own that has locked this file, as who is
# at work has: $worker
as_worker() {
	(
		exec 8>>"$1"
		flock 8 && exec sleep 1000 3>&-
	) &
	worker=$!
	until_true is_held "$1"
}

# fall_at_once N: so many crash at once, and are taken, or not: $pids
fall_at_once() {
	local i p

	pids=()
	for ((i = 0; i < $1; i++)); do
		target "$targets/fall" segv 0
		pids+=("$pid")
	done
	for p in "${pids[@]}"; do
		printf f >&"${ask_fd[$p]}"
	done
	for p in "${pids[@]}"; do
		wait "$p" 2>/dev/null
	done
	until_true none_runs
}

# is_held FILE: somebody has locked it (flock(2)); to try to lock it would be in
# the way of who wants it
is_held() {
	grep -q "FLOCK.*:$(stat -c %i "$1" 2>/dev/null || echo none) " \
	    /proc/locks
}
