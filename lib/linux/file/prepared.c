/*
 * Memory for copies that are made while processes are stopped. It is allocated
 * and touched before the stop, because finding, zeroing and mapping its pages
 * takes three times as long as the copy itself. After the processes resume, the
 * copies are written to their files and the memory is freed.
 */
#include "file.h"
#include "full.h"
#include "io/io.h"
#include "vec.h"

#include <sys/mman.h>
#include <sys/statvfs.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23 /* asm-generic/mman-common.h, Linux 5.14 */
#endif

enum {
	HUGE = 2048 * KB,	/* size of a huge page, on systems that have
				   them */
	FIRST = 4 * KB,		/* number of bytes that file_lookelf() reads
				   from a file */
	STRIDE = 4096 * KB	/* number of bytes to write before their memory
				   is freed */
};

struct waiting {		/* a copied run that is not yet written to its
				   file */
	uint64_t	 at;	/* byte offset in the prepared memory */
	uint64_t	 to;	/* byte offset in the file */
	uint64_t	 len;	/* length in bytes */
	int		 out;	/* borrowed; descriptor of the file */
};

struct prepared {
	uint8_t		*p;	/* owned; start of the mapping */
	size_t		 size;	/* size of the mapping in bytes */
	uint64_t	 used;
	struct waiting	*v;	/* owned */
	size_t		 n;
	int		 file;	/* owned; an empty temporary file, or -1 */
};

/*
 * Allocate memory for the copies of shared memory that capture l will make. The
 * size of this memory follows from the mappings that were read before the stop.
 * If the size is above the limit in most, in bytes, or if the allocation fails,
 * no memory is prepared, and the copies go directly to their files.
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
 * Return a temporary file for copies, owned by the caller. The file for the
 * first call in capture l was created before the stop, because creating it can
 * take milliseconds. Return -1 with errstr set on failure.
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
 * Return true if the file system that has the file fd has room for len bytes in
 * addition to all copies in the prepared memory k. If not, the caller must copy
 * directly to the file, so that the error occurs while it can still be handled.
 */
static bool
file_hasroom(const struct prepared *k, int fd, uint64_t len)
{
	struct statvfs v;

	if (fstatvfs(fd, &v) == -1)
		return false;
	return v.f_blocks == 0 ||	/* a tmpfs without a size limit */
	    (uint64_t)v.f_bavail * v.f_frsize >= k->used + len;
}

/*
 * Record that run r of file out was copied to the memory at offset k->used.
 * prepared_write() will write it to the file later. If the run is the start of
 * the file, write its first bytes now: file_lookelf() needs them before then.
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
 * Copy all runs of job j, with several threads. If the prepared memory of
 * capture l has room, copy them into it; prepared_write() later writes them to
 * j->out. Otherwise copy them directly to j->out. Return 0, or -1 with errstr
 * set.
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
	/* forget these runs, as j->out may be closed; their memory is no
	   longer zero */
	if (rc == -1) {
		k->n = n;
		k->used = sum;
	}
	free(run);
	return rc;
}

/*
 * Write all copies in the prepared memory of capture l to their files. Each
 * piece of the memory is freed once it is written. Call this when all processes
 * have resumed, or when all stay stopped until the snapshot is written. Return
 * 0, or -1 with errstr set.
 */
int
prepared_write(struct live *l)
{
	struct prepared *k = l->prepared;
	const struct waiting *w;
	uint64_t done, given, end;
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
			/* free whole huge pages */
			end = (w->at + done + n) / HUGE * HUGE;
			if (end > given)
				(void)madvise(k->p + given,
				    (size_t)(end - given), MADV_DONTNEED);
			given = end;
		}
	}
	if (rc == -1)
		errstr_sys("temporary file");
	prepared_free(l);
	return rc;
}

/*
 * Discard the copied runs of capture l that are not yet written to the file
 * open as out. The caller must not read that file any more.
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
 * Free the prepared memory and temporary file of capture l.
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
