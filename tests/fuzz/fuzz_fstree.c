/*
 * Any bytes as one or two snap(6) streams that become a tree of files: every
 * name is valid and leads to the file that was listed, files match their
 * attributes, and any inode number is safe.
 */
#include "fuzz_snap.h"

#include <limits.h>

#ifdef LIBFUZZER
#include "fuzz_items.h"
#endif

enum {
	VISITS = 400,		/* files of a tree that are checked */
	LISTED = 60,		/* entries of a directory */
	DEEPEST = 60,
	READS = 9000		/* bytes per read */
};

struct listing {
	struct fstree	*tree;
	uint64_t	 dir;
	uint64_t	 ino[LISTED];
	bool		 isdir[LISTED];
	size_t		 n;
	uint64_t	 next;
};

static size_t visits;

static void
warn_check(void *arg, const char *text)
{
	(void)arg;
	MUST(*text != '\0');
}

static bool
entry_check(void *arg, const struct fsentry *e)
{
	struct listing *l = arg;
	uint64_t ino;

	MUST(e->next > l->next);
	l->next = e->next;
	if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0) {
		MUST(e->dir && e->next <= 2);
		return true;
	}
	MUST(*e->name != '\0' && strlen(e->name) <= NAME_MAX);
	MUST(strchr(e->name, '/') == NULL);
	MUST(fstree_lookup(l->tree, l->dir, e->name, &ino) == 1);
	MUST(ino == e->ino);
	l->ino[l->n] = e->ino;
	l->isdir[l->n++] = e->dir;
	return l->n < LISTED;
}

/*
 * Read parts of a file, and look for its holes.
 */
static void
check_file(struct fstree *t, uint64_t ino, const struct fsattr *a)
{
	static uint8_t buf[READS];
	const uint64_t at[] = { 0, a->size / 2, a->size < READS / 2 ? 0 :
	    a->size - READS / 2, a->size, INT64_MAX - 10, UINT64_MAX - 10 };
	int64_t data, hole;
	ssize_t got;
	size_t i;

	MUST(a->size <= INT64_MAX && a->data <= a->size);
	for (i = 0; i < sizeof at / sizeof *at; i++) {
		got = fstree_read(t, ino, buf, sizeof buf, at[i]);
		MUST(got >= -1 && got <= (ssize_t)sizeof buf);
		MUST(got <= 0 || a->memory || (uint64_t)got <=
		    a->size - at[i]);
		MUST(got >= 0 || *snap_errstr() != '\0');
		data = fstree_seek(t, ino, at[i], SEEK_DATA);
		hole = fstree_seek(t, ino, at[i], SEEK_HOLE);
		MUST(data == -1 || (data >= (int64_t)at[i] &&
		    (uint64_t)data < a->size));
		MUST(hole == -1 || (hole >= (int64_t)at[i] &&
		    (uint64_t)hole <= a->size));
		MUST(data == -1 || data != hole);
	}
}

static void
check_dir(struct fstree *t, uint64_t dir, size_t depth)
{
	struct listing *l;
	struct fsattr a;
	uint64_t ino;
	size_t i;

	MUST((l = calloc(1, sizeof *l)) != NULL);
	l->tree = t;
	l->dir = dir;
	MUST(fstree_list(t, dir, 0, entry_check, l) == 0);
	MUST(fstree_lookup(t, dir, "no such name", &ino) == 0);
	for (i = 0; i < l->n && visits < VISITS; i++) {
		visits++;
		MUST(fstree_attr(t, l->ino[i], &a) == 0);
		MUST(a.dir == l->isdir[i]);
		if (!a.dir)
			check_file(t, l->ino[i], &a);
		else if (depth < DEEPEST)
			check_dir(t, l->ino[i], depth + 1);
	}
	free(l);
}

static bool
entry_ignore(void *arg, const struct fsentry *e)
{
	(void)e;
	return ++*(size_t *)arg < LISTED;
}

/*
 * Use numbers that were never listed, from the bits of the input.
 */
static void
check_numbers(struct fstree *t, const uint8_t *data, size_t n)
{
	uint8_t buf[64];
	struct fsattr a;
	uint64_t ino;
	size_t i, k;

	for (i = 0; i + 8 <= n && i < 800; i += 8) {
		memcpy(&ino, data + i, 8);
		ino = ino << 26 | ino >> 60 | (ino & 3) << 41;
		ino &= ((uint64_t)3 << 41) | ((1 << 30) - 1);
		k = 0;
		(void)fstree_list(t, ino, ino % 5, entry_ignore, &k);
		if (fstree_attr(t, ino, &a) == 0 && !a.dir)
			(void)fstree_read(t, ino, buf, sizeof buf, 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fstree *t;
	struct snap *s[2];
	size_t i;

	read_two(data, n, s);
	MUST((t = fstree_new(warn_check, NULL)) != NULL);
	for (i = 0; i < 2; i++)
		if (s[i] != NULL)
			MUST(fstree_add(t, s[i], s[i]) == 0);
	visits = 0;
	check_dir(t, FSTREE_ROOT, 0);
	check_numbers(t, data, n);
	fstree_free(t);
	snap_free(s[0]);
	snap_free(s[1]);
	return 0;
}
