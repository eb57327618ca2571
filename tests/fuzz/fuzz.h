/*
 * Functions of the fuzz targets. With -DLIBFUZZER a target is driven by
 * libFuzzer. Otherwise it is a program that replays the files it is given and
 * prints TAP.
 *
 *	make fuzz				all, FUZZTIME seconds each
 *	make fuzz FUZZTIME=600 FUZZ="fstree svg" some, for longer
 *	build/tests/fuzz/fstree FILE ...	replay, as tests/fuzz.t does
 *	build-fuzz/tests/fuzz/fstree FILE	the same with sanitizers
 *
 * A target is fuzz_NAME.c.  Its corpus, corpus/NAME, keeps the inputs that
 * failed.  cores.py and streams.py make the first inputs.  If random changes
 * are refused early, a target has a mutator: fuzz_items.h for snap(6) streams,
 * fuzz_proto.h for CRIU images, fuzz_mutate.h for texts and binary structures.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "library.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/*
 * A condition that must hold for any input.
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
