/*
 * Functions of fuzz targets that read a whole snapshot and write it.
 */
#ifndef FUZZ_SNAP_H
#define FUZZ_SNAP_H

#include "fuzz.h"
#include "model.h"
#include "space.h"

#include <sys/mman.h>

#include <fcntl.h>
#include <unistd.h>

enum {
	PIPEMOST = 60000,	/* size of a pipe */
	READMOST = 64 * KB,	/* of each piece */
	WRITEMOST = 4096 * KB	/* of all memory */
};

static int
memory_file(const void *data, size_t n)
{
	int fd;

	MUST((fd = memfd_create("fuzz", MFD_CLOEXEC)) != -1);
	MUST(write(fd, data, n) == (ssize_t)n);
	return fd;
}

static struct snap *
read_fd(int fd, const struct readopts *o)
{
	struct snap *s;
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	s = snap_load(path, o);
	MUST(s != NULL || *snap_errstr() != '\0');
	close(fd);
	return s;
}

static __attribute__((unused)) struct snap *
read_pipe(const uint8_t *data, size_t n)
{
	int fd[2];

	MUST(pipe2(fd, O_CLOEXEC) == 0);
	MUST(write(fd[1], data, n) == (ssize_t)n);
	close(fd[1]);
	return read_fd(fd[0], NULL);
}

/*
 * Return the offset of the second of two consecutive streams; n if there is
 * only one.
 */
static __attribute__((unused)) size_t
stream_cut(const uint8_t *data, size_t n)
{
	static const char magic[] = "process snapshot ";
	const uint8_t *p;

	if (n < sizeof magic)
		return n;
	p = memmem(data + 1, n - 1, magic, sizeof magic - 1);
	return p == NULL ? n : (size_t)(p - data);
}

/*
 * Read a stream, or two consecutive ones. Set a snapshot to NULL if its stream
 * is missing or refused.
 */
static __attribute__((unused)) void
read_two(const uint8_t *data, size_t n, struct snap *s[2])
{
	size_t cut = stream_cut(data, n);

	s[0] = read_fd(memory_file(data, cut), NULL);
	s[1] = cut == n ? NULL : read_fd(memory_file(data + cut, n - cut),
	    NULL);
}

/*
 * Redirect standard output to fd. Return a copy of the old one for
 * output_back().
 */
static int
output_to(int fd)
{
	int save;

	fflush(stdout);
	MUST((save = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) != -1);
	MUST(dup2(fd, STDOUT_FILENO) != -1);
	return save;
}

static void
output_back(int save)
{
	fflush(stdout);
	MUST(dup2(save, STDOUT_FILENO) != -1);
	close(save);
}

/*
 * Return a hash of an image.
 */
static uint64_t
image_sum(struct image *im)
{
	static uint8_t page[READMOST];
	struct piece *p;
	uint64_t h, last;
	size_t n, i;

	h = 14695981039346656037U;
	last = 0;
	for (p = image_first(im); p != NULL; p = piece_next(p)) {
		MUST(p->first <= p->last);
		MUST(p == image_first(im) || p->first > last);
		last = p->last;
		n = p->last - p->first < sizeof page ?
		    (size_t)(p->last - p->first) + 1 : sizeof page;
		MUST(image_read(im, p->first, page, n) == 0);
		MUST(image_read(im, p->last, page, 1) == 0);
		for (i = 0; i < n; i++)
			h = (h ^ page[i]) * 1099511628211U;
		h = (h ^ p->first) * 1099511628211U;
		h = (h ^ p->last) * 1099511628211U;
	}
	return h;
}

/*
 * Check that missing memory cannot be read.
 */
static void
check_missing(struct image *im)
{
	uint8_t c;
	size_t i;

	for (i = 0; i < im->nmissing; i++) {
		MUST(im->missing[i].start < im->missing[i].end);
		MUST(i == 0 || im->missing[i - 1].end <=
		    im->missing[i].start);
		MUST(image_read(im, im->missing[i].start, &c, 1) == -1);
		MUST(image_read(im, im->missing[i].end - 1, &c, 1) == -1);
	}
}

static void
check_proc(struct proc *p)
{
	struct vmas l = { 0 };
	struct linuxrec r;
	struct recfile f;

	MUST(linuxrec_open(&r, proc_file(p, "proc")) == 0);
	MUST(p->embedded != NULL || linuxrec_find(&r, "stat", &f));
	linuxrec_close(&r);
	MUST(proc_vmas(p, &l) == 0);
	vmas_free(&l);
	if (p->mem != NULL)
		check_missing(p->mem);
}

/*
 * Return true if nothing is known of a process. It is written with an empty
 * list of segments.
 */
static bool
proc_empty(const struct proc *p)
{
	return proc_isempty(p) || (p->nfile == 1 && p->file[0].len == 0 &&
	    strcmp(p->file[0].name, "segment") == 0 && (p->text == NULL ||
	    p->text->nseg == 0) && (p->mem == NULL || p->mem->nseg == 0));
}

static uint64_t
snap_sum(struct snap *s)
{
	const struct proc *p;
	uint64_t h;
	size_t i, k;

	for (h = i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		if (proc_empty(p))
			continue;
		h = h * 31 + p->pid;
		h = h * 31 + p->leader;
		h = h * 31 + image_sum(p->text);
		h = h * 31 + image_sum(p->mem);
		for (k = 0; k < p->nfile; k++)
			h += (p->file[k].len + 1) * strlen(p->file[k].name);
	}
	return h;
}

/*
 * Write a snapshot to memory. Return a descriptor at its end.
 */
static int
write_back(struct snap *s)
{
	struct output *out;
	int fd, save;

	fd = memory_file("", 0);
	save = output_to(fd);
	MUST((out = output_open(NULL)) != NULL);
	MUST(snap6_write(s, out, NULL, NULL) == 0);
	MUST(output_commit(out) == 0);
	output_back(save);
	return fd;
}

/*
 * Check that s is valid and, unless it is long, is read back unchanged.
 */
static void __attribute__((unused))
check_snap(struct snap *s)
{
	struct snap *t;
	uint64_t sum, size;
	size_t i;

	for (i = 0, size = 0; i < s->nproc; i++) {
		check_proc(s->proc[i]);
		if (__builtin_add_overflow(size, image_bytes(s->proc[i]->mem),
		    &size))
			size = UINT64_MAX;
	}
	sum = snap_sum(s);
	if (size >= WRITEMOST)
		return;
	t = read_fd(write_back(s), NULL);
	MUST(t != NULL);
	MUST(snap_sum(t) == sum);
	snap_free(t);
}

#endif
