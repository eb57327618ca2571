#!/usr/bin/env bash
# Files of any kind with a newline in their names are restored: open, deleted
# and mapped ones; so is a process with a newline in its name.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

start "$here/newline.py"
until_true longer 20
is "$(awk '$3 != 0' "$log" | head -n 3)" '' 'nothing is wrong before'
moves newline "$tmp/there" -r
end
finish 5
