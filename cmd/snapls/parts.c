/*
 * The parts of a snap(6) stream, one per line.
 */
#include "snapls.h"
#include "bisect.h"

static const char *const kinds[] = {
	[PART_LINE] = "line", [PART_HEAD] = "record", [PART_DATA] = "data",
	[PART_COUNT] = "count", [PART_SEGMENT] = "segment",
	[PART_RAW] = "raw", [PART_ZERO] = "zero", [PART_MEM] = "memory",
	[PART_TEXT] = "text"
};

static void
part_begin(uint64_t at, uint64_t len, const char *kind)
{
	printf("%12" PRIu64 " %12" PRIu64 " %-7s ", at, len, kind);
}

static void
count_end(uint64_t n, const char *unit)
{
	printf("%" PRIu64 " %s%s\n", n, unit, n == 1 ? "" : "s");
}

CMP_BY(offset_cmp, size_t, ORDER(*x, *y))

/*
 * Print the files of a Linux record or trailer, in the order of their offsets.
 * p has the data of the record. If the data is not an archive, print nothing.
 */
static void
print_files(const struct readpart *p)
{
	const struct file rec = { .data = (uint8_t *)(uintptr_t)p->data,
	    .len = p->n };
	struct linuxrec r;
	const char *name;
	size_t i, end;

	if (linuxrec_open(&r, &rec) == -1)
		return;
	SORT(r.at, r.n, offset_cmp);
	for (i = 0; i < r.n; i++) {
		end = i + 1 < r.n ? r.at[i + 1] : p->n;
		part_begin(p->at + p->len - p->n + r.at[i], end - r.at[i],
		    "file");
		name = (const char *)r.data + r.at[i];
		printf("%.*s\n", (int)strcspn(name, "\n"), name);
	}
	linuxrec_close(&r);
}

/*
 * Print part p of a stream. This is a part callback; arg is not used.
 */
void
parts_print(void *arg, const struct readpart *p)
{
	(void)arg;
	if (p->kind == PART_LINE)
		printf("%12s %12s %-7s MEANING\n", "BYTE", "LENGTH", "PART");
	part_begin(p->at, p->len, kinds[p->kind]);
	switch (p->kind) {
	case PART_LINE:
		text_put(p->data);
		putchar('\n');
		break;
	case PART_HEAD:
		printf("%" PRIu64 " %s\n", p->pid, (const char *)p->data);
		break;
	case PART_DATA:
		count_end(p->n, "byte");
		print_files(p);
		break;
	case PART_COUNT:
		count_end(p->n, "segment");
		break;
	case PART_SEGMENT:
		printf("%#" PRIx64 ", ", p->addr);
		count_end(p->n, "byte");
		break;
	case PART_RAW:
	case PART_ZERO:
		printf("%#" PRIx64 ", ", p->addr);
		count_end(p->n, "page");
		break;
	default:
		printf("%#" PRIx64 " as process %" PRIu64 " at %#" PRIx64,
		    p->addr, p->pid, p->to);
		if (p->raw != 0)
			printf(", byte %" PRIu64, p->raw);
		printf(", ");
		count_end(p->n, "page");
	}
}
