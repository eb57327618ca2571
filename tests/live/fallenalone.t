#!/usr/bin/env bash
# Crashes that change system settings and use the user snapcrash.
# beside: crash unsanitized
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

[ -n "${VM-}" ] || skip_all "not in a virtual machine (tests/vm/run)"
handler_begin
snapcrash_begin
config "readable-by user"
useradd -r -s /bin/false snapcrash 2>/dev/null ||
    echo "snapcrash:x:65531:65531::/:/bin/false" >>/etc/passwd
crash install

# only root may read the crash of a set-user-ID program
echo 2 >/proc/sys/fs/suid_dumpable
cp "$targets/fall" "$tmp/pub/setuid"
chmod u+s "$tmp/pub/setuid"
as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
target "$tmp/pub/setuid" segv 0
as=(env)
printf f >&"${ask_fd[$pid]}"
wait "$pid" 2>/dev/null
until_true taken setuid 1
until_true none_runs
try "set-user-ID: taken" whole "$(cd "$store" && echo setuid.*)"
is "$(stat -c %a "$store"/setuid.*)" 600 "set-user-ID: only root may read it"
echo 0 >/proc/sys/fs/suid_dumpable

crash remove
is "$rc $err" "0 " "removed"
finish 3
