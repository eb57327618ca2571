/*
 * What is kept of the small files and Linux records that a stream has, where
 * only some of them will be asked for: a thousand processes have forty
 * megabytes, and a list of them shows a few kilobytes.
 */
#include "read.h"
#include "record/record.h"

#include <string.h>

static bool
is_wanted(const char *const *names, const char *name)
{
	for (; *names != NULL; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static int
drop_unwanted(void *names, const struct recfile *f, char *name, size_t most,
    struct buf *data)
{
	(void)f;
	(void)most;
	(void)data;
	return linuxrec_applies(name) || is_wanted(names, name) ? EDIT_KEEP :
	    EDIT_DROP;
}

/*
 * Note the bytes of a file in the sum of those that process p was read with.
 */
static void
sum_add(struct proc *p, const char *name, const struct buf *b)
{
	const uint64_t sums[] = { p->filesum, sums_of(name, strlen(name)),
	    sums_of(b->data, b->len) };

	p->filesum = sums_of(sums, sizeof sums);
}

/*
 * Give the data of a record to the process that is being read, and of a Linux
 * record the files that are wanted; one that is not is empty.  What is in b is
 * taken over.  Return 0, or -1 with errstr.
 */
int
reader_keep(struct reader *r, const char *name, struct buf *b)
{
	const char *const *files = r->o->files;
	struct proc *p = r->proc;
	char word[32];

	if (files == NULL)
		return proc_setfile(p, name, b->data, b->len);
	sum_add(p, name, b);
	if (strcmp(name, "proc") != 0 && !is_wanted(files, name)) {
		buf_free(b);
		return proc_setfile(p, name, NULL, 0);
	}
	if (proc_setfile(p, name, b->data, b->len) == -1)
		return -1;
	/* what is wrong with a record is told when it is applied */
	if (strcmp(name, "proc") == 0)
		(void)linuxrec_edit(p, linuxrec_cputype(proc_file(p, name),
		    word, sizeof word), drop_unwanted,
		    (void *)(uintptr_t)files, NULL, 0);
	return 0;
}
