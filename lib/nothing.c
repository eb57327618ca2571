/*
 * The source of a stream of which only the description was kept.
 */
#include "model.h"
#include "snap.h"

#include <stdlib.h>
#include <string.h>

static int
nothing_read(struct source *src, const struct run *r, size_t n, uint8_t *buf)
{
	(void)src;
	(void)r;
	(void)n;
	(void)buf;
	return errstr_set("page data was not kept");
}

static const struct source_ops nothing_ops = { nothing_read, NULL, NULL };

/*
 * A source whose bytes were never kept: every read fails.
 */
struct source *
source_nothing(struct snap *s)
{
	struct source *src;

	if ((src = calloc(1, sizeof *src)) == NULL ||
	    (src->name = strdup("stream")) == NULL) {
		free(src);
		errstr_set("out of memory");
		return NULL;
	}
	src->ops = &nothing_ops;
	src->pitch = KB + 1;
	source_add(s, src);
	return src;
}
