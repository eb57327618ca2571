#!/bin/sh
# Run the fuzz targets on the corpora, inputs that once failed.
set -u

cd "$(dirname "$0")/.." || exit 1
n=0
for dir in tests/fuzz/corpus/*; do
	name=${dir##*/}
	n=$((n + 1))
	if "${BUILD:-build}/tests/fuzz/$name" "$dir"/* >/dev/null; then
		echo "ok $n - corpus of $name"
	else
		echo "not ok $n - corpus of $name"
	fi
done
echo "1..$n"
