/*
 * snapcat: several snapshots as one, or what is whole of a damaged one.
 */
#include "common/common.h"

#include <stdlib.h>
#include <unistd.h>

static struct progress progress;
static struct exclude *exclude;	/* secrets that are left out; or NULL */
static const char *path;	/* of the output; NULL: the standard one */
static bool salvage;
static bool verbose;
static bool compress;

/*
 * Read all files into one snapshot.
 */
static struct snap *
read_all(char *const file[], int n)
{
	struct readopts o = { .salvage = salvage, .warn = program_lose,
	    .progress = &progress };
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
	if (rc == 0 && exclude != NULL)
		rc = exclude_snap(exclude, s, program_lose, NULL);
	if (rc == 0)
		return s;
	snap_free(s);
	return NULL;
}

/*
 * Write all files as one snapshot, and say what that has if verbose is true.
 */
static int
write_all(char *const file[], int n)
{
	char text[240], plan9[240];
	struct output *out;
	struct snap *s;
	bool many;

	s = NULL;
	if ((out = output_begin(path, compress, &progress)) == NULL ||
	    (s = read_all(file, n)) == NULL ||
	    snap6_write(s, out, program_lose, NULL) == -1 ||
	    output_end(out) == -1) {
		output_abort(out);
		snap_free(s);
		return -1;
	}
	totals_text(s, out, text, sizeof text);
	many = totals_plan9(s, plan9, sizeof plan9);
	snap_free(s);
	if (output_commit(out) == -1)
		return -1;
	progress_hide();
	if (verbose)
		program_warn("%s", text);
	if (verbose && many)
		program_warn("%s", plan9);
	return 0;
}

static const struct opt opts[] = {
	{ 'o', "output", "file", "write to file, not to standard output",
	    .outfile = &path },
	{ 's', "salvage", NULL, "save what is whole of damaged files",
	    .flag = &salvage },
	{ 'v', "verbose", NULL, "tell what was written", .flag = &verbose },
	{ 'x', "exclude", "what", "leave out secrets, dontdump, "
	    "env=PATTERN, START-END", .exclude = &exclude },
	{ 'z', "compress", NULL, "compress, as gzip(1) does",
	    .flag = &compress },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Make one snapshot of several, or save what is whole of one.",
	.synopsis = (const char *const[]){
		"[-svz] [-o file] [-x what] file ...",
		NULL
	},
	.opts = opts
};

int
main(int argc, char *argv[])
{
	struct confined need = { 0 };
	int rc;

	program_descriptors();
	argv = options_take(&cmdline, argc, argv);
	if (*argv == NULL)
		options_misuse(&cmdline);
	program_signals();
	need.in = argv;
	need.nin = (size_t)(argc - optind);
	need.out = path;
	program_confine(&need, verbose);
	progress_show(&progress, getprogname());
	rc = write_all(argv, argc - optind);
	progress_hide();
	if (rc == -1)
		program_warn("%s", snap_errstr());
	return rc == 0 && !program_lost() ? 0 : 1;
}
