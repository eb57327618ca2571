/*
 * snapcore: make ELF cores of the processes of a snapshot, or a snapshot of
 * ELF cores.
 */
#include "snap.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1024 * KB };

static bool verbose;
static bool incomplete;
static bool compress;

/*
 * A warning, of something that is missing from what we write.
 */
static void
say_lost(void *arg, const char *text)
{
	(void)arg;
	incomplete = true;
	warnx("%s", text);
}

/*
 * Copy bytes of a core; *data counts them.
 */
static int
copy_data(struct core *c, struct output *o, uint64_t off, uint64_t end,
    uint64_t *data)
{
	static uint8_t buf[PIECE];
	ssize_t n;

	for (; off < end; off += (uint64_t)n) {
		n = core_pread(c, buf, end - off < PIECE ?
		    (size_t)(end - off) : PIECE, off);
		if (n == -1)
			return -1;
		output_refer(o, buf, (size_t)n);
		if (output_flush(o) == -1)
			return -1;
		*data += (uint64_t)n;
	}
	return 0;
}

/*
 * Copy a core, its holes as holes.
 */
static int
copy_core(struct core *c, struct output *o, uint64_t *data)
{
	uint64_t off, size;
	int64_t start, end;

	size = core_size(c);
	for (off = 0; off < size; off = (uint64_t)end) {
		start = core_seek(c, off, SEEK_DATA);
		if (start == -1) {
			output_hole(o, size - off);
			break;
		}
		output_hole(o, (uint64_t)start - off);
		end = core_seek(c, (uint64_t)start, SEEK_HOLE);
		if (copy_data(c, o, (uint64_t)start, (uint64_t)end,
		    data) == -1)
			return -1;
	}
	return 0;
}

/*
 * Write the core of a process to a path, or to standard output where that
 * is NULL.  -1 with the error string set.
 */
static int
write_core(struct snap *s, struct proc *p, const char *path, bool tell)
{
	struct output *o;
	struct core *c;
	uint64_t data;

	if ((c = core_new(s, p)) == NULL)
		return -1;
	data = 0;
	o = output_open(path);
	if (o != NULL && copy_core(c, o, &data) == -1) {
		errstr_wrap("process %" PRIu64, p->pid);
		output_abort(o);
		o = NULL;
	}
	if (o == NULL || output_commit(o) == -1) {
		core_free(c);
		return -1;
	}
	if (core_left(c) > 0) {
		incomplete = true;
		warnx("process %" PRIu64 ": %zu thread%s without registers "
		    "left out", p->pid, core_left(c),
		    core_left(c) == 1 ? "" : "s");
	}
	if (verbose)
		warnx("%s: process %" PRIu64 ", %" PRIu64 " bytes, of them "
		    "%" PRIu64 " in holes", path == NULL ?
		    "standard output" : path, p->pid, core_size(c),
		    core_size(c) - data);
	else if (tell)
		warnx("%s: process %" PRIu64, path, p->pid);
	core_free(c);
	return 0;
}

/*
 * Is it a process, not a thread or a file that was carried along?
 */
static bool
is_process(const struct proc *p)
{
	return !proc_isthread(p) && p->carried == NULL;
}

/*
 * The process of that number, or that a thread of that number belongs to.
 */
static struct proc *
find_process(struct snap *s, uint64_t pid)
{
	struct buf b = { 0 };
	struct proc *p;
	size_t i, n;

	p = snap_find(s, pid);
	if (p != NULL && proc_isthread(p))
		p = snap_find(s, p->leader);
	if (p != NULL && is_process(p))
		return p;
	for (i = n = 0; i < s->nproc; i++) {
		if (!is_process(s->proc[i]) || ++n > 10)
			continue;
		buf_printf(&b, "%s%" PRIu64, n == 1 ? "" : ", ",
		    s->proc[i]->pid);
	}
	errstr_set("process %" PRIu64 " is not in the snapshot, which has "
	    "%.*s%s", pid, (int)b.len, b.len == 0 ? "" :
	    (const char *)b.data, n == 0 ? "none" : n > 10 ? ", ..." : "");
	buf_free(&b);
	return NULL;
}

/*
 * A core each of all processes, in files named after them.  What cannot be
 * had is told, and does not keep the others from being written.
 */
static void
write_all(struct snap *s, const char *path)
{
	char *name;
	size_t i;

	for (i = 0; i < s->nproc; i++) {
		if (!is_process(s->proc[i]))
			continue;
		if (asprintf(&name, "%s.%" PRIu64, path == NULL ? "core" :
		    path, s->proc[i]->pid) == -1)
			err(1, NULL);
		if (write_core(s, s->proc[i], name, true) == -1)
			say_lost(NULL, snap_errstr());
		free(name);
	}
}

static int
cores_of_snap(const char *file, const char *path, int64_t pid)
{
	struct readopts o = { .warn = say_lost };
	struct proc *p;
	struct snap *s;
	size_t i, n;
	int rc;

	if ((s = snap_open(file, &o)) == NULL)
		return -1;
	for (i = n = 0, p = NULL; i < s->nproc; i++)
		if (is_process(s->proc[i])) {
			n++;
			p = s->proc[i];
		}
	rc = 0;
	if (pid != -1) {
		p = find_process(s, (uint64_t)pid);
		rc = p == NULL ? -1 : write_core(s, p, path, false);
	} else if (n == 0)
		rc = errstr_set("no process in the snapshot");
	else if (n == 1)
		rc = write_core(s, p, path, false);
	else if (path != NULL && strcmp(path, "-") == 0)
		rc = errstr_set("%zu processes, but one standard output; "
		    "use -p pid", n);
	else
		write_all(s, path);
	snap_free(s);
	return rc;
}

/*
 * The first line of a snapshot of cores.
 */
static int
set_header(struct snap *s)
{
	char word[32], *line;
	const char *type;
	int rc;

	if (s->header != NULL)
		return 0;
	type = s->nproc == 0 ? "" : linuxrec_cputype(proc_file(s->proc[0],
	    "proc"), word, sizeof word);
	line = live_header(*type == '\0' ? plan9_cputype() : type);
	if (line == NULL)
		return -1;
	rc = asprintf(&s->header, "process snapshot %s", line) == -1 ?
	    errstr_set("out of memory") : 0;
	free(line);
	return rc;
}

static int
snap_of_cores(char *file[], int n, const char *path, const char *exe)
{
	struct coreopts co = { .exe = exe, .warn = say_lost };
	struct output *o;
	struct snap *s;
	int i;

	o = NULL;
	if ((s = snap_new()) == NULL)
		return -1;
	for (i = 0; i < n; i++)
		if (core_read(s, file[i], &co) == -1)
			goto fail;
	if (set_header(s) == -1 || (o = output_open(path)) == NULL ||
	    (compress && output_compress(o, 0) == -1) ||
	    snap6_write(s, o, say_lost, NULL) == -1)
		goto fail;
	if (verbose)
		warnx("%d core%s, %zu processes and threads; bytes written: "
		    "%" PRIu64, n, n == 1 ? "" : "s", s->nproc,
		    output_pos(o));
	snap_free(s);
	return output_commit(o);
fail:
	output_abort(o);
	snap_free(s);
	return -1;
}

static void __attribute__((noreturn))
usage(void)
{
	fprintf(stderr, "usage: snapcore [-v] [-o core] [-p pid] [file]\n"
	    "       snapcore -r [-vz] [-e exe] [-o file] core ...\n");
	exit(2);
}

int
main(int argc, char *argv[])
{
	const char *path, *exe, *bad;
	bool reverse;
	int64_t pid;
	int c, rc;

	program_descriptors();
	path = exe = NULL;
	reverse = false;
	pid = -1;
	while ((c = getopt(argc, argv, "e:o:p:rvz")) != -1)
		switch (c) {
		case 'e':
			exe = optarg;
			break;
		case 'o':
			path = optarg;
			break;
		case 'p':
			pid = strtonum(optarg, 0, INT64_MAX, &bad);
			if (bad != NULL) {
				warnx("%s is not a process id", optarg);
				usage();
			}
			break;
		case 'r':
			reverse = true;
			break;
		case 'v':
			verbose = true;
			break;
		case 'z':
			compress = true;
			break;
		default:
			usage();
		}
	argc -= optind;
	argv += optind;
	if (reverse ? argc == 0 || pid != -1 : argc > 1 || exe != NULL ||
	    compress)
		usage();
	program_signals();
	rc = reverse ? snap_of_cores(argv, argc, path, exe) :
	    cores_of_snap(argv[0], path, pid);
	if (rc == -1)
		warnx("%s", snap_errstr());
	return rc == 0 && !incomplete ? 0 : 1;
}
