/*
 * Any bytes as a series, or as two streams that are merged: each moment is a
 * snapshot that can be written and read back, and has the processes of its part
 * of the stream. A moment that is written is read unchanged.
 */
#include "fuzz_snap.h"

#ifdef LIBFUZZER
#define FUZZ_OWN_MUTATOR
#include "fuzz_items.h"

/*
 * Add a moment: all items of the stream again, with the process IDs of the
 * moment, and its mark. Its pages are references to those of the moment before.
 */
static size_t
moment_mutate(uint8_t *p, size_t n, size_t max)
{
	static const char first[] = "linux amd64 1";
	static struct items l, new;
	char line[64];
	struct item *it;
	uint64_t which = 0;
	size_t i, k, len;

	items_get(&l, p, n);
	for (i = 0; i < l.n; i++)
		if (l.v[i].pid / EARLY_PID >= which && l.v[i].pid <
		    8 * EARLY_PID)
			which = l.v[i].pid / EARLY_PID + 1;
	if (l.n == 0 || l.n + 2 > ITEMS)
		return 0;
	new = l;
	for (i = 0, k = l.n; i < l.n && k + 2 < ITEMS; i++) {
		if (l.v[i].pid / EARLY_PID + 1 != which &&
		    l.v[i].kind != ITEM_SEG)
			continue;
		if ((l.v[i].pid + 1) % EARLY_PID == 0)
			continue;
		if (mutate_pick(8) == 0 && l.v[i].kind == ITEM_FILE)
			continue;
		new.v[k] = l.v[i];
		if (l.v[i].kind != ITEM_SEG)
			new.v[k].pid += EARLY_PID;
		k++;
	}
	it = &new.v[k];
	memset(it, 0, 2 * sizeof *it);
	it[0].kind = ITEM_LINUX;
	it[1].kind = ITEM_FILE;
	it[0].pid = it[1].pid = (which + 1) * EARLY_PID - 1;
	it[0].name = (const uint8_t *)"proc";
	it[0].namelen = 4;
	it[0].data = (const uint8_t *)first;
	it[0].n = sizeof first - 1;
	it[1].name = (const uint8_t *)MOMENT_FILE;
	it[1].namelen = sizeof MOMENT_FILE - 1;
	len = (size_t)snprintf(line, sizeof line, "%ju 17356%05zu a@b amd64\n",
	    (uintmax_t)which + 1, mutate_pick(100000));
	it[1].data = (const uint8_t *)line;
	it[1].n = len;
	new.n = k + 2;
	return items_put(&new, p, max);
}

size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	size_t r = 0, cut = stream_cut(p, n);

	mutate_seed(seed);
	if (cut == n && mutate_pick(4) == 0)
		r = moment_mutate(p, n, max);
	else
		r = streams_mutate(p, n, max, cut);
	return r > 0 ? r : LLVMFuzzerMutate(p, n, max);
}
#endif

enum { MOMENTS = 8 };		/* of a series that are read */

static char path[64];

static void
note(void *arg, const char *text)
{
	(void)arg;
	MUST(*text != '\0');
}

/*
 * Read moment number which of the series at file, or NULL.
 */
static struct snap *
moment_read(const char *file, size_t which)
{
	struct readopts o = { .warn = note, .note = note };
	char choice[24];
	struct snap *s;

	snprintf(choice, sizeof choice, "%zu", which);
	if (which > 0)
		o.moment = choice;
	s = snap_load(file, &o);
	MUST(s != NULL || *snap_errstr() != '\0');
	return s;
}

/*
 * Return a hash of the snapshot that does not depend on the order of its
 * processes: embedded files follow the others when a moment is chosen.
 */
static uint64_t
procs_sum(struct snap *s)
{
	const struct proc *p;
	uint64_t h, all = 0;
	size_t i, k;

	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		if (proc_empty(p))
			continue;
		h = p->pid * 31 + p->leader;
		h = h * 31 + image_sum(p->text);
		h = h * 31 + image_sum(p->mem);
		for (k = 0; k < p->nfile; k++)
			h += (p->file[k].len + 1) * strlen(p->file[k].name);
		all += h * 1099511628211U;
	}
	return all;
}

/*
 * Check moment number which of n in the series at file.
 */
static void
check_moment(const char *file, const struct instant *in, size_t which, size_t n)
{
	size_t i, processes = 0;
	struct snap *s, *t;

	if ((s = moment_read(file, which)) == NULL)
		return;
	MUST(s->moment == which && s->moments == n);
	MUST(strcmp(s->header, in->header) == 0);
	for (i = 0; i < s->nproc; i++) {
		MUST(s->proc[i]->pid < EARLY_PID - 1);
		processes += proc_isprocess(s->proc[i]);
	}
	MUST(processes == in->processes);
	if (snap_kb(s) < WRITEMOST / KB) {
		MUST((t = read_fd(write_back(s), NULL)) != NULL);
		MUST(procs_sum(t) == procs_sum(s));
		snap_free(t);
	}
	snap_free(s);
}

/*
 * Check all moments of a stream.
 */
static void
check_series(const uint8_t *data, size_t n)
{
	static const struct readopts all = { .moments = true, .warn = note };
	const int fd = memory_file(data, n);
	char file[64];
	struct instant *v;
	struct snap *s;
	size_t i, count = 0;

	snprintf(file, sizeof file, "/proc/self/fd/%d", fd);
	if ((s = snap_load(file, &all)) != NULL) {
		MUST(snap_instants(s, &v, &count) == 0);
		for (i = 0; i < count && i < MOMENTS; i++)
			check_moment(file, &v[i], i + 1, count);
		instants_free(v, count);
	}
	snap_free(s);
	if (count == 0 && (s = moment_read(file, 0)) != NULL) {
		MUST(s->moment == 0 && s->broken == NULL);
		snap_free(s);
	}
	close(fd);
}

/*
 * Write the processes of s as moment n. They keep the IDs of the moment: later
 * pages refer to them.
 */
static void
moment_write(struct snap6 *w, struct snap *s, unsigned int n)
{
	const uint64_t add = (n - 1) * EARLY_PID;
	size_t i;

	MUST(n == 1 || snap6_resume(w, true) == 0);
	for (i = 0; i < s->nproc; i++) {
		s->proc[i]->pid += add;
		MUST(snap6_put(w, s->proc[i]) == 0);
	}
	MUST(snap6_pause(w, n, s->header, "amd64") == 0);
}

/*
 * Return true if s can be a moment of a series.
 */
static bool
is_moment(struct snap *s)
{
	size_t i;

	if (s == NULL || s->moments > 0 || s->nproc == 0 ||
	    snap_kb(s) >= WRITEMOST / KB)
		return false;
	for (i = 0; i < s->nproc; i++)
		if (s->proc[i]->pid >= EARLY_PID - 1 || s->proc[i]->pid == 0)
			return false;
	return true;
}

static void
path_remove(void)
{
	(void)unlink(path);
}

/*
 * Write a series of two snapshots, and read its moments.
 */
static void
check_pair(struct snap *s[2])
{
	const uint64_t sum[2] = { procs_sum(s[0]), procs_sum(s[1]) };
	struct output *out;
	struct snap6 *w;
	struct snap *t;
	size_t i;

	if (*path == '\0') {
		snprintf(path, sizeof path, "%s/fuzz_series.%d",
		    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
		    (int)getpid());
		atexit(path_remove);
	}
	path_remove();
	MUST((out = output_open(path)) != NULL);
	MUST((w = snap6_begin(out, s[0]->header, note, NULL)) != NULL);
	MUST(snap6_series(w) == 0);
	moment_write(w, s[0], 1);
	moment_write(w, s[1], 2);
	MUST(snap6_retire(w, s[0]) == 0);
	(void)snap6_end(w, false);
	MUST(output_commit(out) == 0);
	for (i = 1; i <= 2; i++) {
		MUST((t = moment_read(path, i)) != NULL);
		MUST(t->moments == 2);
		MUST(procs_sum(t) == sum[i - 1]);
		snap_free(t);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct snap *s[2];

	if (stream_cut(data, n) == n) {
		check_series(data, n);
		return 0;
	}
	read_two(data, n, s);
	if (is_moment(s[0]) && is_moment(s[1]))
		check_pair(s);
	snap_free(s[0]);
	snap_free(s[1]);
	return 0;
}
