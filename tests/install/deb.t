#!/usr/bin/env bash
# The packages of "make deb" can be installed on a fresh machine, used there,
# and removed completely.
# beside: others unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$tests/.." || exit 1

changes=$(find "$BUILD/deb" -maxdepth 1 -name '*.changes' 2>/dev/null)
[ -n "$changes" ] || skip_all 'no packages: "make deb" makes them'
is_root || skip_all "only root can make a machine and enter it"
# the test does not make packages, which takes minutes
[ -z "$(find Makefile .github cmd lib fmt man6 .debian -newer "$changes")" ] ||
    skip_all 'the packages are older than the sources: "make deb" makes them'
if command -v lintian >/dev/null; then
	# the person who makes the packages sets the maintainer's address
	is "$(lintian --allow-root --suppress-tags bogus-mail-host \
	    --suppress-tags bogus-mail-host-in-debian-changelog \
	    --suppress-tags initial-upload-closes-no-bugs "$changes" 2>&1)" \
	    "" "lintian reports nothing"
else
	skip "lintian reports nothing" "no lintian"
fi

base=$(tests/fresh -b 2>"$tmp/err" | tail -n 1)
if [ ! -d "$base" ]; then
	skip "packages on a fresh machine" "$(tail -n 1 "$tmp/err")" 11
	finish 12
fi

# the machine: an overlay, or a copy, in a new pid namespace
said=$tmp/said
mkdir "$said" "$tmp/mnt"
cat >"$tmp/machine" <<'E2'
set -u
root=$tmp/mnt/root
mount -t tmpfs machine "$tmp/mnt" || exit 1
mkdir "$root" "$tmp/mnt/upper" "$tmp/mnt/work"
mount -t overlay -o \
    "lowerdir=$base,upperdir=$tmp/mnt/upper,workdir=$tmp/mnt/work" \
    machine "$root" 2>/dev/null || cp -a "$base/." "$root" || exit 1
mkdir "$root/debs" "$root/new"
mount --bind "${base%/*}/debs" "$root/debs"
mount --bind "$deb" "$root/new"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"

# step NAME COMMAND
step() {
	env -i HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
	    PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	    chroot "$root" bash -c "$2" >"$said/$1" 2>"$said/$1.err"
	echo $? >"$said/$1.rc"
}
apt='apt-get -qq -o Dir::Cache::archives=/debs -y --no-install-recommends'
files='find / -xdev \( -path /tmp -o -path /var/log -o -path /var/cache -o \
    -path /var/lib/apt -o -path /var/lib/dpkg \) -prune -o -print |
    LC_ALL=C sort; find /etc -type f ! -name ld.so.cache -exec sha256sum {} + |
    LC_ALL=C sort'

step prepare "$apt update && $apt install file"
[ "$(cat "$said/prepare.rc")" = 0 ] || exit 0
step before "$files"
step install "$apt install /new/process-snap_*.deb /new/libsnap*_*.deb \
    /new/python3-*.deb"
step version 'psnap --version'
step list 'PATH=/usr/lib/process-snap/bin:$PATH; snap -r $$ | snapls -no USER,COMMAND'
step file 'psnap $$ >/tmp/x.snap && file -b /tmp/x.snap'
step pc "test -e \"\$(ls /usr/lib/*/pkgconfig/libsnap.pc)\" &&
    ldconfig -p | grep -c 'libsnap\\.so\\.1 '"
step python '/usr/bin/python3 -c "import snap
with snap.open(\"/tmp/x.snap\") as s: print(s.processes[0].name)"'
step manual 'dpkg -L process-snap libsnap-dev python3-process-snap | grep -c "/man[13567]/.*\.gz"'
# other packages have files named snap, _snap and snap.1
step names 'dpkg -L process-snap | grep -E "/_?snap(\.[0-9](\.gz)?)?$" |
    while read -r f; do [ -d "$f" ] || echo "$f"; done
    dpkg -L libsnap-dev | grep "/snap$"; zcat \
    /usr/lib/process-snap/share/man/man1/snap.1.gz | sed -n "s/^.Nm //p;5q"
    dpkg -s process-snap | grep -E "^(Conflicts|Breaks|Replaces)"'
step purge "$apt purge --autoremove process-snap libsnap1 libsnap-dev \
    python3-process-snap"
step after "$files"
E2
export tmp said base deb="$BUILD/deb"
unshare -mpf --kill-child bash "$tmp/machine" >"$tmp/err" 2>&1
if [ "$(cat "$said/prepare.rc" 2>/dev/null)" != 0 ]; then
	skip "packages on a fresh machine" "apt-get reaches no mirror" 11
	finish 12
fi

# well STEP NAME: passes if the step has succeeded
well() {
	ok "$(cat "$said/$1.rc")" "$2" || diag <"$said/$1.err"
}
well install "the packages are installed with their dependencies"
is "$(cat "$said/version")" "p$("$BUILD/snap" --version)" "psnap prints its version"
well list "snap takes a snapshot under its own name"
is "$(awk '$2 == "bash" { print $2, $1; exit }' "$said/list")" "bash root" \
    "snapls lists this snapshot"
is "$(sed 's/ of .*//' "$said/file")" "Plan 9/Linux process snapshot" \
    "file(1) recognizes it"
is "$(cat "$said/pc")" 1 "the linker finds the library"
is "$(cat "$said/python")" bash "the Python module reads the snapshot"
pages=(cmd/*/*.[157] lib/*.3 man6/*.6)	# and a link to psnap.1
is "$(cat "$said/manual")" $((${#pages[@]} + 1)) "the manual is installed"
is "$(sort "$said/names")" "/usr/include/snap
/usr/lib/process-snap/bin/snap
/usr/lib/process-snap/share/man/man1/snap.1.gz
/usr/share/man/man6/snap.6.gz
/usr/share/man/man7/snap.7.gz
psnap" "no file has a name of snapd, and there are no conflicts"
well purge "the packages are removed"
is "$(diff "$said/before" "$said/after")" "" "no file remains"
finish 12
