/*
 * What /proc/kpagecount or /proc/kpageflags tell of frames, read in groups
 * and kept: frames that lie side by side are asked for together, and those
 * of several processes once.
 */
#include "live.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	/*
	 * A call costs as much as five frames that it reads; groups of 16
	 * are near the best for those side by side and for lone ones.
	 */
	GROUP = 16,
	GROUPS = 256,		/* of a block */
	BLOCK = GROUP * GROUPS,
	BLOCKS_MAX = 1 << 24	/* 2^36 frames */
};

struct block {
	uint64_t	 known[GROUPS / 64];	/* a bit a group */
	uint64_t	 v[BLOCK];
};

struct frames {
	int		 fd;
	char		 name[24];
	struct block	**block; /* owned; NULL: nothing is known */
	size_t		 n;
};

/*
 * Open a file of /proc that has 64 bits for each frame.  The caller frees
 * it.  NULL with errno.
 */
struct frames *
frames_open(const char *name)
{
	struct frames *f;
	char path[64];

	if ((f = calloc(1, sizeof *f)) == NULL) {
		(void)errstr_set("out of memory");
		return NULL;
	}
	strlcpy(f->name, name, sizeof f->name);
	snprintf(path, sizeof path, "/proc/%s", name);
	if ((f->fd = open(path, O_RDONLY | O_CLOEXEC)) == -1) {
		(void)errstr_sys("%s", path);
		free(f);
		return NULL;
	}
	return f;
}

static struct block *
frames_block(struct frames *f, uint64_t i)
{
	struct block **v;
	size_t n;

	if (i >= BLOCKS_MAX) {
		(void)errstr_set("%s: a frame beyond all memory", f->name);
		return NULL;
	}
	if (i >= f->n) {
		n = (size_t)i + 256;
		if ((v = reallocarray(f->block, n, sizeof(*v))) == NULL)
			goto fail;
		memset(v + f->n, 0, (n - f->n) * sizeof(*v));
		f->block = v;
		f->n = n;
	}
	if (f->block[i] == NULL && (f->block[i] = calloc(1,
	    sizeof **f->block)) == NULL)
		goto fail;
	return f->block[i];
fail:
	(void)errstr_set("out of memory");
	return NULL;
}

/*
 * What is told of a frame; beyond the end of memory it is 0.
 */
int
frames_get(struct frames *f, uint64_t frame, uint64_t *value)
{
	struct block *b;
	size_t at, group;

	if ((b = frames_block(f, frame / BLOCK)) == NULL)
		return -1;
	at = frame % BLOCK;
	group = at / GROUP;
	if (!(b->known[group / 64] & (uint64_t)1 << group % 64)) {
		if (pread(f->fd, b->v + group * GROUP, GROUP * sizeof *b->v,
		    (off_t)(frame / GROUP * GROUP * sizeof *b->v)) == -1)
			return errstr_sys("/proc/%s", f->name);
		b->known[group / 64] |= (uint64_t)1 << group % 64;
	}
	*value = b->v[at];
	return 0;
}

void
frames_free(struct frames *f)
{
	size_t i;

	if (f == NULL)
		return;
	for (i = 0; i < f->n; i++)
		free(f->block[i]);
	free(f->block);
	close(f->fd);
	free(f);
}
