/*
 * Select which small files and Linux records of a stream are kept, if only some
 * will be used: a thousand processes have forty megabytes of them, and a list
 * shows a few kilobytes.
 */
#include "read.h"
#include "record/record.h"

static bool
is_among(const char *const *names, const char *name)
{
	for (; *names != NULL; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/*
 * Return true if the options o ask for the file called name.
 */
static bool
is_wanted(const struct readopts *o, const char *name)
{
	return (o->files == NULL || is_among(o->files, name)) &&
	    (o->unused == NULL || !is_among(o->unused, name));
}

/*
 * Return true if line consists of a key and a number of kB, but is not the page
 * size.
 */
static bool
is_size(struct scan line)
{
	static const char page[] = "KernelPageSize:", unit[] = " kB";
	const size_t len = (size_t)(line.end - line.s);
	struct scan t = line;
	const char *colon;
	uint64_t kb;

	if ((colon = memchr(line.s, ':', len)) == NULL ||
	    (len >= strlen(page) && memcmp(line.s, page, strlen(page)) == 0))
		return false;
	t.s = colon + 1;
	scan_blanks(&t);
	return scan_number(&t, 10, &kb) &&
	    (size_t)(t.end - t.s) == strlen(unit) &&
	    memcmp(t.s, unit, strlen(unit)) == 0;
}

/*
 * Append the lines of file f to b, except those with sizes.
 */
static void
sizes_drop(struct buf *b, const struct recfile *f)
{
	struct scan text = scan_begin(f->data, f->len);
	struct scan line;
	const char *s;

	for (s = text.s; scan_line(&text, &line); s = text.s)
		if (!is_size(line))
			buf_add(b, s, (size_t)(text.s - s));
}

static int
drop_unwanted(void *arg, const struct recfile *f, char *name, struct buf *data)
{
	const struct readopts *o = arg;

	if (linuxrec_applies(name) || strcmp(name, MOMENT_FILE) == 0)
		return EDIT_KEEP;
	if (!is_wanted(o, name))
		return EDIT_DROP;
	if (!o->nosizes ||
	    (strcmp(name, "smaps") != 0 && strcmp(name, "status") != 0))
		return EDIT_KEEP;
	sizes_drop(data, f);
	return EDIT_CHANGE;
}

/*
 * Store b as the record called name of the process that r is reading. A record
 * that is not wanted is stored empty, or not at all if r->o->unused names it.
 * Of a Linux record, only the wanted files are stored. The function takes
 * ownership of the data of b. Return 0, or -1 with errstr set.
 */
int
reader_keep(struct reader *r, const char *name, struct buf *b)
{
	const struct readopts *o = r->o;
	struct proc *p = r->proc;
	char word[32];

	if (o->files == NULL && o->unused == NULL && !o->nosizes)
		return proc_setfile(p, name, b->data, b->len);
	p->filesum = sums_of((uint64_t[]){ p->filesum,
	    sums_of(name, strlen(name)), sums_of(b->data, b->len) },
	    3 * sizeof p->filesum);
	if (strcmp(name, "proc") != 0 && !is_wanted(o, name)) {
		buf_free(b);
		return o->unused != NULL && is_among(o->unused, name) ? 0 :
		    proc_setfile(p, name, NULL, 0);
	}
	if (proc_setfile(p, name, b->data, b->len) == -1)
		return -1;
	/* errors in the record are reported when it is applied */
	if (strcmp(name, "proc") == 0)
		(void)linuxrec_edit(p, linuxrec_cputype(proc_file(p, name),
		    word, sizeof word), drop_unwanted, (void *)(uintptr_t)o,
		    NULL, 0);
	return 0;
}
