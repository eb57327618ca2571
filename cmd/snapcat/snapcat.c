/*
 * snapcat: several snapshots as one, or what is whole of a damaged one.
 */
#include "snap.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool incomplete;

/*
 * A warning, of something that is missing from what we write.
 */
static void
say_lost(void *arg, const char *text)
{
	char line[700];

	(void)arg;
	incomplete = true;
	strlcpy(line, text, sizeof line);
	warnx("%s", program_harmless(line));
}

/*
 * Read all files into one snapshot.
 */
static struct snap *
read_all(char *const file[], int n, bool salvage)
{
	struct readopts o = { .salvage = salvage, .warn = say_lost };
	struct snap *s, *t;
	int i, rc;

	if ((s = snap_open(file[0], &o)) == NULL)
		return NULL;
	for (i = 1, rc = 0; i < n && rc == 0; i++) {
		if ((t = snap_open(file[i], &o)) == NULL)
			rc = -1;
		else if ((rc = snap_merge(s, t)) == -1)
			errstr_wrap("%s", file[i]);
		snap_free(t);
	}
	if (rc == 0)
		return s;
	snap_free(s);
	return NULL;
}

static void
say_totals(const struct snap *s, const struct output *o)
{
	struct kbcount sum = { 0 };
	const struct proc *p;
	size_t i, nproc, nfile;

	for (i = nproc = nfile = 0; i < s->nproc; i++) {
		p = s->proc[i];
		nfile += p->carried != NULL;
		nproc += p->carried == NULL && p->leader == 0;
		sum.raw += p->count.raw;
		sum.zero += p->count.zero;
		sum.same += p->count.same;
	}
	warnx("processes: %zu, threads: %zu, files: %zu, KB raw: %" PRIu64
	    ", zero: %" PRIu64 ", shared: %" PRIu64 "; bytes written: %"
	    PRIu64, nproc, s->nproc - nfile, nfile, sum.raw, sum.zero,
	    sum.same, output_pos(o));
}

static void __attribute__((noreturn))
usage(void)
{
	fprintf(stderr, "usage: snapcat [-svz] [-o file] file ...\n");
	exit(2);
}

int
main(int argc, char *argv[])
{
	struct output *out;
	struct snap *s;
	const char *path;
	bool salvage, verbose, compress;
	int c;

	program_descriptors();
	path = NULL;
	salvage = verbose = compress = false;
	while ((c = getopt(argc, argv, "o:svz")) != -1)
		switch (c) {
		case 'o':
			path = optarg;
			break;
		case 's':
			salvage = true;
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
	if (argc == 0)
		usage();
	program_signals();
	s = NULL;
	if ((out = output_open(path)) == NULL ||
	    (compress && output_compress(out, 0) == -1) ||
	    (s = read_all(argv, argc, salvage)) == NULL ||
	    snap6_write(s, out, say_lost, NULL) == -1)
		goto fail;
	if (verbose)
		say_totals(s, out);
	snap_free(s);
	if (output_commit(out) == -1)
		errx(1, "%s", snap_errstr());
	return incomplete ? 1 : 0;
fail:
	warnx("%s", snap_errstr());
	output_abort(out);
	snap_free(s);
	return 1;
}
