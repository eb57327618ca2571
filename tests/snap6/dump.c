/*
 * Print what the library makes of a snapshot, in the words of oracle.py:
 * dump [file].
 */
#include "model.h"
#include "library.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

static int
file_cmp(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void
dump_segment(const char *what, const struct segment *s)
{
	static uint8_t buf[256 * KB];
	const struct extent *e;
	struct run r;
	uint64_t kb, left, end;
	size_t n;
	uLong sum;

	sum = crc32(0, NULL, 0);
	left = s->len;
	for (kb = 0; kb < segment_kb(s); kb += r.n) {
		if ((e = segment_extent(s, kb)) == NULL)
			errx(1, "%s", snap_errstr());
		end = e->kb + e->n;
		r.n = end - kb < 256 ? end - kb : 256;
		if (e->src == NULL)
			memset(buf, 0, sizeof buf);
		else {
			r.loc = e->loc + (kb - e->kb) * e->src->pitch;
			if (source_read(e->src, &r, 1, buf) != 0)
				errx(1, "%s", snap_errstr());
		}
		n = left < r.n * KB ? (size_t)left : r.n * KB;
		sum = crc32(sum, buf, (uInt)n);
		left -= n;
	}
	printf("%s %" PRIx64 " %" PRIu64 " %08lx\n", what, s->base, s->len,
	    sum);
}

static void
dump_image(const char *what, const struct image *im)
{
	size_t i;

	for (i = 0; im != NULL && i < im->nseg; i++)
		dump_segment(what, im->seg[i]);
}

int
main(int argc, char *argv[])
{
	struct snap *s;
	struct proc *p;
	struct file *f;
	size_t i, k;

	if ((s = snap_load(argc > 1 ? argv[1] : NULL, NULL)) == NULL)
		errx(1, "%s", snap_errstr());
	printf("header %s\n", s->header);
	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		printf("process %" PRIu64 "\n", p->pid);
		if (p->nfile > 0)
			qsort(p->file, p->nfile, sizeof *p->file, file_cmp);
		for (k = 0; k < p->nfile; k++) {
			f = &p->file[k];
			printf("file %s %zu %08lx\n", f->name, f->len,
			    crc32(crc32(0, NULL, 0), f->data, (uInt)f->len));
		}
		dump_image("text", p->text);
		dump_image("mem", p->mem);
	}
	snap_free(s);
	return 0;
}
