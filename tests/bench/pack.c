/*
 * Compress a stream as snap -z does: pack THREADS < file > file.gz
 */
#include "io/io.h"
#include "library.h"

#include <err.h>
#include <stdlib.h>
#include <unistd.h>

int
main(int argc, char *argv[])
{
	static char buf[256 * 1024];
	struct output *o;
	ssize_t n;

	if (argc != 2)
		errx(2, "usage: pack threads");
	if ((o = output_open(NULL)) == NULL ||
	    output_compress(o, (int)strtol(argv[1], NULL, 10)) == -1)
		errx(1, "%s", snap_errstr());
	while ((n = read(STDIN_FILENO, buf, sizeof buf)) > 0) {
		output_put(o, buf, (size_t)n);
		if (output_flush(o) == -1)
			errx(1, "%s", snap_errstr());
	}
	if (n == -1)
		err(1, "read");
	if (output_commit(o) == -1)
		errx(1, "%s", snap_errstr());
	return 0;
}
