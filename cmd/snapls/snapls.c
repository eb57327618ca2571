/*
 * snapls: list what a snapshot holds; read and check all of it.
 */
#include "common/common.h"

#include <err.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_NAME = 0, STATUS_USER = 28, STATUS_STATE = 56 };

static bool headed;		/* the first line of this file was shown */

struct listing {
	bool	 segments;
	bool	 records;
	bool	 check;
};

/*
 * A word of a status file (proc(3) of Plan 9), width columns from a place.
 */
static const char *
status_word(const struct proc *p, size_t at, size_t width, char *word)
{
	const struct file *f;
	size_t n;

	strlcpy(word, "-", width + 1);
	if ((f = proc_file(p, "status")) == NULL || f->len < at + width)
		return word;
	for (n = 0; n < width && f->data[at + n] > ' '; n++)
		word[n] = (char)f->data[at + n];
	if (n > 0)
		word[n] = '\0';
	return text_harmless(word);
}

/*
 * How many threads each process has is told by the threads.
 */
static size_t
count_threads(struct snap *s, const struct proc *p)
{
	const size_t *at;
	size_t i, n, found;

	if (snap_threads(s, p->pid, &at, &n) == -1)
		errx(1, "%s", snap_errstr());
	for (i = 0, found = 1; i < n; i++)
		found += proc_isthread(s->proc[at[i]]);
	return found;
}

static void
list_record(void *arg, uint64_t pid, const char *name, uint64_t at,
    uint64_t len)
{
	const struct listing *ls = arg;
	char *s;

	if (at > 0 && !snap6_known(name))
		program_warn("process %" PRIu64 ": %s: a record of an unknown "
		    "type, of %" PRIu64 " bytes", pid, name, len);
	if (!ls->records)
		return;
	if ((s = strdup(name)) == NULL)
		err(1, NULL);
	if (at == 0) {
		headed = true;
		printf("%s\n%12s %12s %10s RECORD\n", text_harmless(s),
		    "BYTE", "LENGTH", "PID");
	} else
		printf("%12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %s\n", at,
		    len, pid, s);
	free(s);
}

static void
list_range(uint64_t first, uint64_t last, const char *perm, const char *name)
{
	printf("%18" PRIx64 "-%-16" PRIx64 " %9" PRIu64 "K %-4s %s\n", first,
	    last + 1, (last - first) / KB + 1, perm, name);
}

/*
 * Show what of first..last is in which mapping; what is in none was joined
 * to its neighbours.
 */
static void
list_mappings(const struct vmas *l, uint64_t first, uint64_t last)
{
	const struct vma *v;
	char perm[5];

	for (v = vmas_next(l, first); v != NULL && v < l->v + l->n &&
	    v->start <= last; v++) {
		if (first < v->start) {
			list_range(first, v->start - 1, "", "(gap)");
			first = v->start;
		}
		vma_perms(v, perm);
		if (v->end - 1 >= last) {
			list_range(first, last, perm,
			    text_harmless(v->name));
			return;
		}
		list_range(first, v->end - 1, perm,
		    text_harmless(v->name));
		first = v->end;
	}
	list_range(first, last, "", "(gap)");
}

static void
list_segments(struct proc *p)
{
	struct vmas l = { 0 };
	struct piece *pc;
	struct missing *m;
	size_t i;

	if (p->carried == NULL && proc_vmas(p, &l) == -1)
		errx(1, "process %" PRIu64 ": %s", p->pid, snap_errstr());
	for (pc = image_first(p->text); pc != NULL; pc = piece_next(pc))
		list_range(pc->first, pc->last, "", p->carried == NULL ?
		    "text" : text_harmless(p->carried->path));
	for (pc = image_first(p->mem); pc != NULL; pc = piece_next(pc))
		if (p->carried != NULL)
			list_range(pc->first, pc->last, "",
			    text_harmless(p->carried->path));
		else
			list_mappings(&l, pc->first, pc->last);
	for (i = 0; p->mem != NULL && i < p->mem->nmissing; i++) {
		m = &p->mem->missing[i];
		printf("%18" PRIx64 "-%-16" PRIx64 " %9" PRIu64
		    "K missing: %s\n", m->start, m->end,
		    (m->end - m->start) / KB, text_harmless(m->reason));
	}
	vmas_free(&l);
}

static void
list_proc(struct snap *s, struct proc *p, const struct listing *ls)
{
	char name[28], user[28], state[12];

	printf("%10" PRIu64 " %-16s %-8s %-8s %7zu %10" PRIu64 "K %10" PRIu64
	    "K %10" PRIu64 "K %10" PRIu64 "K\n", p->pid,
	    p->carried != NULL ? "(file)" :
	    status_word(p, STATUS_NAME, 27, name),
	    status_word(p, STATUS_USER, 27, user),
	    status_word(p, STATUS_STATE, 11, state), count_threads(s, p),
	    image_bytes(p->mem) / KB, p->count.raw, p->count.zero,
	    p->count.same);
	if (ls->segments)
		list_segments(p);
}

static void
kbcount_add(struct kbcount *sum, const struct kbcount *c)
{
	sum->raw += c->raw;
	sum->zero += c->zero;
	sum->same += c->same;
}

/*
 * The files that are carried along, on one line, or each on its own.
 */
static void
list_files(struct snap *s, const struct listing *ls)
{
	struct kbcount sum = { 0 };
	size_t i, n;

	for (i = n = 0; i < s->nproc; i++) {
		if (s->proc[i]->carried == NULL)
			continue;
		n++;
		kbcount_add(&sum, &s->proc[i]->count);
		if (ls->segments)
			list_proc(s, s->proc[i], ls);
	}
	if (n > 0)
		printf("%10s %5zu mapped file%s %37s %10" PRIu64 "K %10" PRIu64
		    "K %10" PRIu64 "K\n", "with", n, n == 1 ? "" : "s", "",
		    sum.raw, sum.zero, sum.same);
}

static void
list_snap(struct snap *s, const struct listing *ls)
{
	struct kbcount sum = { 0 };
	uint64_t mem, all;
	size_t i, nproc, nthread;
	struct proc *p;

	printf("%10s %-16s %-8s %-8s %7s %11s %11s %11s %11s\n", "PID",
	    "NAME", "USER", "STATE", "THREADS", "MEMORY", "RAW", "ZERO",
	    "SHARED");
	mem = nproc = nthread = 0;
	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		kbcount_add(&sum, &p->count);
		if (p->carried != NULL)
			continue;
		mem += image_bytes(p->mem);
		nthread++;
		if (proc_isthread(p))
			continue;
		nproc++;
		list_proc(s, p, ls);
	}
	list_files(s, ls);
	all = sum.raw + sum.zero + sum.same;
	printf("%10s %5zu process%s %18s %7zu %10" PRIu64 "K %10" PRIu64
	    "K %10" PRIu64 "K %10" PRIu64 "K, %.1f%% saved\n", "total", nproc,
	    nproc == 1 ? "  " : "es", "", nthread, mem / KB, sum.raw, sum.zero,
	    sum.same, all == 0 ? 0 : 100 - 100 * (double)sum.raw /
	    (double)all);
}

static const struct opt opts[] = {
	{ 'c', "check", NULL, "read all of it, and tell what is damaged" },
	{ 'l', "long", NULL, "the mappings of each process, too" },
	{ 'v', "verbose", NULL, "the first line and all records, too" },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "List what snapshots hold, by default a line a process.",
	.synopsis = (const char *const[]){
		"[-clv] [file ...]",
		NULL
	},
	.opts = opts
};

/*
 * A message on what is damaged, unless it has been told: arg.
 */
static void
say(void *arg, const char *text)
{
	char line[700];

	strlcpy(line, text, sizeof line);
	if (strcmp(line, arg) == 0)
		return;
	program_warn("%s", line);
}

static bool
is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

/*
 * Tell why a file was not read, and, with -c, what is damaged in it, and what
 * lies there.
 */
static void
tell_damage(const char *path, bool check)
{
	char told[700];
	struct readopts o = { .nodata = true, .salvage = true, .warn = say,
	    .arg = told };

	strlcpy(told, snap_errstr(), sizeof told);
	fflush(stdout);
	program_warn("%s", told);
	if (check && !is_stdin(path))
		snap_free(snap_open(path, &o));
}

/*
 * A snapshot was read to its end and is in order: is its index, too?
 */
static int
check_index(const char *path, struct snap *s)
{
	struct readopts o = { .nodata = true };
	struct snap *t;
	int rc;

	if (s->unsummed != NULL)
		program_warn("%s: %s; there are no sums (snapcat makes new "
		    "ones)", path, s->unsummed);
	else if (!s->summed)
		program_warn("%s: it has no sums", path);
	if (!s->summed)
		return s->damaged ? -1 : 0;
	if (is_stdin(path) || !s->hasindex)
		return 0;
	if ((t = snap_open(path, &o)) == NULL) {
		program_warn("%s", snap_errstr());
		return -1;
	}
	if ((rc = snap_compare(s, t)) == -1)
		program_warn("%s: the index tells something else than the "
		    "snapshot: %s", path, snap_errstr());
	snap_free(t);
	return rc;
}

/*
 * Head the listing of a file with its name.
 */
static void
head_file(const char *path)
{
	char *s;

	if ((s = strdup(path)) == NULL)
		err(1, NULL);
	printf("%s:\n", text_harmless(s));
	free(s);
}

static int
list_file(const char *path, const struct listing *ls, bool named)
{
	struct readopts o = { .nodata = true, .brief = !ls->check,
	    .record = list_record, .scan = ls->check, .warn = program_lose,
	    .arg = (void *)(uintptr_t)ls };
	struct snap *s;
	int rc;

	headed = false;
	if (named)
		head_file(path);
	if ((s = snap_open(path, &o)) == NULL) {
		tell_damage(path, ls->check);
		return -1;
	}
	if (ls->records && !headed && s->header != NULL)
		printf("%s\n", text_harmless(s->header));
	rc = 0;
	if (snap_uncounted(s) && snap_count(s, program_lose, NULL) == -1) {
		program_warn("%s: %s", path, snap_errstr());
		rc = -1;
	}
	list_snap(s, ls);
	if (ls->check) {
		fflush(stdout);
		rc = check_index(path, s);
	}
	snap_free(s);
	return rc;
}

int
main(int argc, char *argv[])
{
	struct listing ls = { false, false, false };
	struct confined need = { 0 };
	int c, i, rc;

	/* it asks others of ours how far they are */
	signal(SIGUSR1, SIG_IGN);
	while ((c = options_next(&cmdline, argc, argv)) != -1)
		switch (c) {
		case 'c':
			ls.check = true;
			break;
		case 'l':
			ls.segments = true;
			break;
		case 'v':
			ls.records = true;
			break;
		}
	need.in = argv + optind;
	need.nin = (size_t)(argc - optind);
	program_confine(&need, ls.records);
	rc = 0;
	if (optind == argc)
		rc = list_file("-", &ls, false);
	for (i = optind; i < argc; i++)
		if (list_file(argv[i], &ls, argc - optind > 1) == -1)
			rc = -1;
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "standard output");
	return rc == 0 && !program_lost() ? 0 : 1;
}
