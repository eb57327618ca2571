#!/usr/bin/env bash
# The DaemonSet of snapcrash, without Kubernetes: its image, its scripts, and a
# process that crashes in the cgroup of a pod.
# beside: crash unsanitized
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

yaml=$tests/../cmd/snapcrash/kubernetes/daemonset.yaml
if /usr/bin/python3 -c 'import yaml' 2>/dev/null; then
	is "$(/usr/bin/python3 -c 'import sys, yaml
print(*(d["kind"] for d in yaml.safe_load_all(open(sys.argv[1]))))' "$yaml")" \
	    "Namespace Secret ConfigMap DaemonSet" "the file is YAML"
else
	skip "the file is YAML" "no module yaml"
fi
if kubectl kustomize --help >/dev/null 2>&1; then
	mkdir "$tmp/mine"
	cp "$yaml" "$tmp/mine"
	sed -n '/^# There is no Helm/,/^[^#]/s/^#	//p' "$yaml" \
	    >"$tmp/mine/kustomization.yaml"
	awk '/^---/ { part = "" } { part = part $0 "\n" }
	    /^kind: ConfigMap/ { on = 1 }
	    on && /^  store:/ { sub(/store:crashes/, "store:mine", part)
		printf "%s", part; exit }' "$yaml" | sed 1d \
	    >"$tmp/mine/values.yaml"
	kubectl kustomize "$tmp/mine" >"$tmp/made" 2>"$tmp/err"
	is "$? $(grep -cE 'store: store:mine|image: REGISTRY/snapcrash$' \
	    "$tmp/made") $(cat "$tmp/err")" "0 2 " "kustomize replaces values"
else
	skip "kustomize replaces values" "no kubectl"
fi
case $BUILD in
*asan | *cover) lacks="objects need shared libraries" ;;
esac
busybox=$(command -v busybox)
if ! command -v buildah >/dev/null; then
	lacks="no buildah"
elif [ -z "$busybox" ] || readelf -lW "$busybox" | grep -q INTERP; then
	lacks="no busybox without shared libraries"
fi
why=${lacks-$(handler_lacks)}
if [ -n "$why" ]; then
	skip "a node" "$why" 9
	finish 11
fi
handler_begin
snapcrash_begin

# value KEY: print a text of the ConfigMap
value() {
	awk -v "key=  $1: |" '$0 == key { on = 1; next }
	    on && /^(    |$)/ { print substr($0, 5); next } { on = 0 }' "$yaml"
}
# b WORD ...: run buildah with its files in $tmp
b() {
	buildah --root "$tmp/images" --runroot "$tmp/running" \
	    --storage-driver vfs "$@"
}

try "the image is built" env -u MAKEFLAGS make -s -C "$tests/.." image \
    O="$BUILD" IMAGE=snapcrash:test
root=$(b mount "$(b from -q "oci-archive:$BUILD/snapcrash-image.tar")")
mkdir -p "$root/host" "$root/dev" "$root/etc/snapcrash"
value node >"$root/etc/snapcrash/node"
value ship >"$tmp/ship"
{
	value snapcrash.conf
	printf '%s\n' "directory $store" "keep-free 0"
} >"$root/etc/snapcrash/snapcrash.conf"
is "$(grep -c . "$root/etc/snapcrash/node" "$tmp/ship" | grep -c ':0$')" 0 \
    "the scripts are in the ConfigMap"

# the container "node" sees the node's files, but has directories of its own for
# programs, /var/lib and /etc/sysctl.d
# shellcheck disable=SC2016 # for the other shell
DIR=$tmp/opt unshare -m sh -c 'mount --bind "$1/lib" /var/lib &&
    mount --bind "$1/sysctl" /etc/sysctl.d && mount --rbind / "$0/host" &&
    mount --rbind /dev "$0/dev" &&
    exec chroot "$0" /bin/sh /etc/snapcrash/node' "$root" "$tmp" \
    >"$tmp/node.log" 2>&1 3>&- &
node=$!
handles() {
	grep -q "^|$tmp/opt/snapcrash " "$proc/core_pattern"
}
until_true handles
ok $? "the kernel runs the program that the container put on the node" ||
    diag <"$tmp/node.log"

uid=12345678-9abc-def0-1234-56789abcdef0
id64=$(printf '%064d' 7)
top=$tmp/mnt.cgroup
mkdir "$top"
mount -t cgroup -o "none,name=pod$$" none "$top" 2>/dev/null ||
    mount -t cgroup2 none "$top"
group=$top/kubepods.slice/kubepods-burstable.slice
group=$group/kubepods-burstable-pod${uid//-/_}.slice/cri-containerd-$id64.scope
mkdir -p "$group"
# shellcheck disable=SC2016 # for the other shell
falls bash -c 'echo $$ >"$0/cgroup.procs" && exec "$1" segv 0' "$group" \
    "$targets/fall"
try "a crash in a pod is kept" "$BUILD/snapls" -c "$store/$id"
is "$("$BUILD/snapls" -no POD "$store/$id" | tr -d ' ')" "$uid" \
    "the snapshot has the UID of the pod"
is "$("$tmp/opt/snapcrash" -c "$root/etc/snapcrash/snapcrash.conf" \
    --noheadings --columns PROGRAM list | tr -d ' ')" fall "the node lists it"

if command -v rclone >/dev/null; then
	RCLONE_CONFIG=/dev/null STORE=$tmp/remote NODE=n1 EVERY=1 \
	    CRASHES=$store sh "$tmp/ship" >"$tmp/ship.log" 2>&1 3>&- &
	ship=$!
	until_true cmp -s "$store/$id" "$tmp/remote/n1/$id"
	cmp "$store/$id" "$tmp/remote/n1/$id"
	ok $? "the crash is copied to the store" || diag <"$tmp/ship.log"
	kill "$ship"
	wait "$ship"
	is "$? $(cd "$tmp/remote/n1" && ls)" "0 $id" "nothing else is copied"
else
	skip "copies" "no rclone" 2
fi
kill "$node"
wait "$node"
is "$? $(cat "$proc/core_pattern")" "0 $was" \
    "the previous handler is back when the container ends"
find "$top/kubepods.slice" -depth -type d -exec rmdir {} +
rm -rf "$store"
finish 11
