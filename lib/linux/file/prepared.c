/*
 * Memory for copies that are made while processes are stopped: it is there
 * before, so that no page has to be found, zeroed and mapped in the stop, which
 * takes three times as long as to copy it.  When they run again, what was
 * copied is written to where it belongs, and the memory is given back.
 */
#include "file.h"
#include "full.h"
#include "io/io.h"
#include "vec.h"

#include <sys/mman.h>
#include <sys/statvfs.h>

#include <stdlib.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23	/* asm-generic/mman-common.h, 5.14 */
#endif

enum {
	HUGE = 2048 * KB,	/* a huge page, where there are such */
	FIRST = 4 * KB,		/* of a file, which file_lookelf looks at */
	STRIDE = 4096 * KB	/* that is written at once, and given back */
};

struct waiting {		/* a run that is to be written */
	uint64_t	 at;	/* in the memory */
	uint64_t	 to;	/* in the file */
	uint64_t	 len;	/* bytes */
	int		 out;	/* borrowed */
};

struct prepared {
	uint8_t		*p;	/* owned; as all that was mapped begins */
	size_t		 size;	/* bytes of that */
	uint64_t	 used;
	struct waiting	*v;	/* owned */
	size_t		 n;
	int		 file;	/* owned; a spool that is empty; or -1 */
};

/*
 * Prepare memory for the copies that will be made of what processes of set l
 * share, as the looks at them tell of it; but not if that is more than most
 * bytes.  Without it, copies are made all the same.
 */
void
prepared_make(struct live *l, uint64_t most)
{
	const uint64_t sum = (l->shmem + HUGE - 1) / HUGE * HUGE;
	const size_t want = (size_t)sum;
	struct prepared *k;

	if (want == 0 || want != sum || sum > most || l->prepared != NULL ||
	    (k = calloc(1, sizeof *k)) == NULL)
		return;
	k->size = want;
	k->p = mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (k->p == MAP_FAILED) {
		free(k);
		return;
	}
	k->file = spool_file();
	l->prepared = k;
	(void)madvise(k->p, want, MADV_HUGEPAGE);
	(void)madvise(k->p, want, MADV_DONTFORK);
	if (madvise(k->p, want, MADV_POPULATE_WRITE) == -1)
		prepared_free(l);
}

/*
 * Return a temporary file for copies, the caller's: the first, of set l, is
 * there before the stop, as to make one may take milliseconds.  Return -1 with
 * errstr on failure.
 */
int
prepared_file(struct live *l)
{
	struct prepared *k = l->prepared;
	int fd;

	if (k == NULL || k->file == -1)
		return spool_file();
	fd = k->file;
	k->file = -1;
	return fd;
}

/*
 * Return true if the file system of file fd has room for what waits to be
 * written and len bytes more: what has none fails while it can be helped.
 */
static bool
file_hasroom(const struct prepared *k, int fd, uint64_t len)
{
	struct statvfs v;

	if (fstatvfs(fd, &v) == -1)
		return false;
	return v.f_blocks == 0 ||	/* a tmpfs without a limit */
	    (uint64_t)v.f_bavail * v.f_frsize >= k->used + len;
}

/*
 * Note that run r was copied to k->used, and write its beginning if that is the
 * file's, which is looked at before all of it is there.
 */
static int
waiting_add(struct prepared *k, int out, const struct copyrun *r)
{
	if (VEC_ROOM(k->v, k->n) == -1)
		return -1;
	if (r->to == 0 && full_pwrite(out, k->p + k->used,
	    r->len < FIRST ? (size_t)r->len : FIRST, 0) == -1)
		return errstr_sys("temporary file");
	k->v[k->n++] = (struct waiting){ k->used, r->to, r->len, out };
	k->used += r->len;
	return 0;
}

/*
 * Copy all runs of j, by all processors, to where prepared_write will write
 * them from if set l has such memory, else at once.  Return 0, or -1 with
 * errstr.
 */
int
prepared_copy(struct live *l, const struct copyjob *j)
{
	struct prepared *k = l->prepared;
	const size_t n = k == NULL ? 0 : k->n;
	struct copyjob in = *j;
	struct copyrun *run;
	uint64_t sum;
	size_t i;
	int rc;

	for (sum = 0, i = 0; i < j->n; i++)
		sum += j->run[i].len;
	if (k == NULL || sum > k->size - k->used ||
	    !file_hasroom(k, j->out, sum))
		return copy_runs(j);
	if ((run = reallocarray(NULL, j->n + 1, sizeof *run)) == NULL)
		return errstr_set("out of memory");
	for (sum = k->used, i = 0; i < j->n; sum += run[i++].len) {
		run[i] = j->run[i];
		run[i].to = sum;
	}
	in.run = run;
	in.memory = k->p;
	rc = copy_runs(&in);
	for (i = 0; i < j->n && rc == 0; i++)
		rc = waiting_add(k, j->out, &j->run[i]);
	/* j->out may be closed, and that memory is not zero any more */
	if (rc == -1) {
		k->n = n;
		k->used = sum;
	}
	free(run);
	return rc;
}

/*
 * Give the memory back from *given, which begins a huge page, to the last that
 * ends at or before end.
 */
static void
memory_give(const struct prepared *k, uint64_t *given, uint64_t end)
{
	end = end / HUGE * HUGE;
	if (end <= *given)
		return;
	(void)madvise(k->p + *given, (size_t)(end - *given), MADV_DONTNEED);
	*given = end;
}

/*
 * Write what was copied for set l, and give the memory back, piece by piece:
 * none of it is stopped any more, or all stays so.  Return 0, or -1 with
 * errstr.
 */
int
prepared_write(struct live *l)
{
	struct prepared *k = l->prepared;
	const struct waiting *w;
	uint64_t done, given;
	size_t i, n;
	int rc;

	given = 0;
	for (rc = 0, i = 0; k != NULL && i < k->n && rc == 0; i++) {
		w = &k->v[i];
		for (done = 0; done < w->len && rc == 0; done += n) {
			n = w->len - done < STRIDE ? (size_t)(w->len - done) :
			    STRIDE;
			rc = full_pwrite(w->out, k->p + w->at + done, n,
			    w->to + done);
			memory_give(k, &given, w->at + done + n);
		}
	}
	if (rc == -1)
		errstr_sys("temporary file");
	prepared_free(l);
	return rc;
}

/*
 * Forget what waits in set l to be written to file out, which nobody will read.
 */
void
prepared_drop(struct live *l, int out)
{
	struct prepared *k = l->prepared;
	size_t i, n;

	if (k == NULL)
		return;
	for (n = i = 0; i < k->n; i++)
		if (k->v[i].out != out)
			k->v[n++] = k->v[i];
	k->n = n;
}

/*
 * Free the memory and the file that set l has for copies.
 */
void
prepared_free(struct live *l)
{
	struct prepared *k = l->prepared;

	if (k == NULL)
		return;
	(void)munmap(k->p, k->size);
	fd_drop(k->file);
	free(k->v);
	free(k);
	l->prepared = NULL;
}
