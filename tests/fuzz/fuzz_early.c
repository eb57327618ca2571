/*
 * Any bytes as the stream of a move with early copies of memory, which a page
 * store writes to images while it is read. The store changes no memory of a
 * process, and the images have the same memory.
 */
#include "fuzz_snap.h"
#include "../../fmt/criu/write/write.h"

#include <sys/stat.h>

#include <dirent.h>
#include <limits.h>

#ifdef LIBFUZZER
#define FUZZ_OWN_MUTATOR
#include "fuzz_items.h"

/*
 * Duplicate the memory of a process as that of an early copy, at the start of
 * the stream; or make the memory of a process that of another copy.
 */
static size_t
copies_mutate(uint8_t *p, size_t n, size_t max)
{
	static struct items l, l2;
	struct item *it;
	size_t i, k;

	items_get(&l, p, n);
	l2.n = l2.used = 0;
	l2.head = l.head;
	l2.headlen = l.headlen;
	if (l.n == 0)
		return 0;
	for (i = mutate_pick(l.n); i < l.n && (l.v[i].kind != ITEM_IMAGE ||
	    l.v[i].namelen != 3); i++)
		continue;
	if (i == l.n)
		return 0;
	it = &l.v[i];
	if (mutate_pick(2) == 0) {
		it->pid = it->pid % EARLY_PID + mutate_pick(4) * EARLY_PID;
		return items_put(&l, p, max);
	}
	for (k = i + 1; k < l.n && l.v[k].kind == ITEM_SEG; k++)
		continue;
	if (l.n + (k - i) > ITEMS)
		return 0;
	memcpy(l2.v, it, (k - i) * sizeof *it);
	memcpy(l2.v + (k - i), l.v, l.n * sizeof *it);
	l2.n = l.n + (k - i);
	l2.v[0].pid = it->pid % EARLY_PID + EARLY_PID;
	return items_put(&l2, p, max);
}

size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	size_t r;

	mutate_seed(seed);
	r = mutate_pick(4) == 0 ? copies_mutate(p, n, max) :
	    stream_mutate(p, n, max);
	return r > 0 ? r : LLVMFuzzerMutate(p, n, max);
}
#endif

enum { ROOM = 1 << 20, DIRPATH = 64 };

static char dir[DIRPATH];

static void
dir_clear(const char *path)
{
	char sub[PATH_MAX];
	struct dirent *e;
	DIR *d;

	if ((d = opendir(path)) == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		snprintf(sub, sizeof sub, "%s/%s", path, e->d_name);
		if (unlink(sub) == -1 && *e->d_name != '.')
			dir_clear(sub);
	}
	closedir(d);
	(void)rmdir(path);
}

static void
dirs_clear(void)
{
	dir_clear(dir);
}

/*
 * Make the two directories with which a move begins.
 */
static void
dirs_make(void)
{
	char sub[PATH_MAX];

	if (*dir == '\0') {
		snprintf(dir, sizeof dir, "%s/fuzz_early.%d",
		    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
		    (int)getpid());
		atexit(dirs_clear);
	}
	dirs_clear();
	snprintf(sub, sizeof sub, "%s/" EARLY_DIR, dir);
	MUST(mkdir(dir, 0700) == 0 && mkdir(sub, 0700) == 0);
}

/*
 * Check that each byte that can be read from both im and was is the same.
 */
static void
check_both(struct image *im, struct image *was)
{
	static uint8_t a[KB], b[KB];
	struct piece *p;
	uint64_t addr;
	size_t n;

	for (p = image_first(im); p != NULL; p = piece_next(p))
		for (addr = p->first; addr >= p->first && addr <= p->last;
		    addr += KB) {
			n = p->last - addr < KB ?
			    (size_t)(p->last - addr) + 1 : KB;
			MUST(image_read(im, addr, a, n) == 0);
			MUST(was == NULL ||
			    image_read(was, addr, b, n) == -1 ||
			    memcmp(a, b, n) == 0);
		}
}

/*
 * Check the processes of s, which was read with a store or from its images,
 * against those of plain. Early copies are overwritten.
 */
static void
check_procs(struct snap *s, struct snap *plain)
{
	const struct proc *q;
	size_t i;

	for (i = 0; i < s->nproc; i++) {
		if (proc_isearly(s->proc[i]) ||
		    (q = snap_find(plain, s->proc[i]->pid)) == NULL)
			continue;
		check_both(s->proc[i]->mem, q->mem);
	}
}

static void
ignore(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

/*
 * Make images of s, which was read with the store of o, and read them.
 */
static void
check_images(struct snap *s, struct snap *plain, const struct criuopts *o)
{
	static const struct readopts quiet = { .warn = ignore };
	struct criustat st = { 0 };
	struct snap *t;

	if (criu_write(s, dir, o, &st) == -1) {
		MUST(*snap_errstr() != '\0');
		return;
	}
	MUST((t = snap_load(dir, &quiet)) != NULL);
	check_procs(t, plain);
	snap_free(t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct readopts scan = { .scan = true };
	struct criuopts o = { .early = true, .lazy = n % 2, .overwrite = true,
	    .leave = UINT64_MAX, .warn = ignore };
	struct readopts with = { .warn = ignore };
	struct snap *s, *plain;
	int fd[2];

	if (n >= ROOM || (plain = read_fd(memory_file(data, n), &scan)) ==
	    NULL)
		return 0;
	if (plain->moments > 0 || snap_kb(plain) > WRITEMOST / KB) {
		snap_free(plain);
		return 0;
	}
	dirs_make();
	MUST((o.store = with.store = criu_store(dir, &o)) != NULL);
	MUST(pipe2(fd, O_CLOEXEC) == 0);
	MUST(fcntl(fd[1], F_SETPIPE_SZ, ROOM) >= ROOM);
	MUST(write(fd[1], data, n) == (ssize_t)n);
	close(fd[1]);
	if ((s = read_fd(fd[0], &with)) != NULL) {
		MUST(early_ready((struct criuout *)o.store) == 0);
		check_procs(s, plain);
		check_images(s, plain, &o);
	}
	criu_storefree(o.store);
	snap_free(s);
	snap_free(plain);
	return 0;
}
