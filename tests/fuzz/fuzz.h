/*
 * What fuzz targets share.  With -DLIBFUZZER a target is driven by
 * libFuzzer; without, it is a program that replays the files it is given
 * and speaks TAP.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "snap.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/*
 * What must hold whatever the input.
 */
#define MUST(x)	do {							\
	if (!(x)) {							\
		warnx("%s:%d: %s: %s", __FILE__, __LINE__, #x,		\
		    snap_errstr());					\
		abort();						\
	}								\
} while (0)

#ifndef LIBFUZZER
int
main(int argc, char *argv[])
{
	uint8_t *data;
	FILE *f;
	size_t n, cap;
	int i;

	printf("1..%d\n", argc - 1);
	for (i = 1; i < argc; i++) {
		if ((f = fopen(argv[i], "rb")) == NULL)
			err(1, "%s", argv[i]);
		data = NULL;
		n = cap = 0;
		do {
			cap += 65536;
			if ((data = realloc(data, cap)) == NULL)
				err(1, "%s", argv[i]);
			n += fread(data + n, 1, cap - n, f);
		} while (n == cap);
		fclose(f);
		if (n == 0 || (data = realloc(data, n)) != NULL)
			LLVMFuzzerTestOneInput(data, n);
		free(data);
		printf("ok %d - %s\n", i, argv[i]);
		fflush(stdout);
	}
	return 0;
}
#endif

#endif
