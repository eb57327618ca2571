/*
 * snapload: from a snapshot to a directory of CRIU images, and back.
 */
#include "common/common.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool verbose;
static struct progress progress;

/*
 * Say what was written to a directory.
 */
static void
say_stat(const char *dir, const struct criustat *st)
{
	char all[24], parent[24], zero[24], written[24];

	text_bytes(all, sizeof all, st->kb * KB);
	text_bytes(parent, sizeof parent, st->parentkb * KB);
	text_bytes(zero, sizeof zero, st->zerokb * KB);
	text_bytes(written, sizeof written, st->bytes);
	program_warn("%s: pages: %s, in the parent: %s, zero: %s; written: %s",
	    dir, all, parent, zero, written);
}

/*
 * Say what is restored, but not as it was: a note function, which unlike
 * program_lose does not count that as missing.
 */
static void
say_note(void *arg, const char *text)
{
	(void)arg;
	program_warn("%s", text);
}

/*
 * Print to standard output the command that restores the images in dir, with
 * the options that *o->need and o->words ask for.  Print nothing if *o->need
 * lacks CRIU_MADE.  Return 0, or -1 with errstr.
 */
static int
command_print(const char *dir, const struct criuopts *o)
{
	const unsigned int need = *o->need;
	struct buf b = { 0 };
	int rc;

	if (!(need & CRIU_MADE))
		return 0;
	criu_command(&b, dir, need, o->words);
	buf_add(&b, "", 1);
	rc = buf_check(&b);
	if (rc == 0 && (puts(text_harmless((char *)b.data)) == EOF ||
	    fflush(stdout) == EOF))
		rc = errstr_sys("standard output");
	buf_free(&b);
	return rc;
}

/*
 * Tell whether a snapshot can become images, and how these are restored: dir is
 * what the command names.
 */
static int
check(const char *file, const char *dir, struct criuopts *o)
{
	struct readopts ro = { .progress = o->progress };
	struct snap *s;
	int rc;

	criu_readopts(&ro);
	if ((s = snap_open(file, &ro)) == NULL)
		return -1;
	rc = criu_check(s, o);
	snap_free(s);
	return rc == -1 ? -1 : command_print(dir, o);
}

/*
 * A snapshot to images.
 */
static int
load(const char *file, const char *dir, struct criuopts *o)
{
	struct criustat st = { 0 };
	struct readopts ro = { .progress = o->progress };
	struct snap *s;
	int rc;

	if ((o->store = ro.store = criu_store(dir, o)) == NULL)
		return -1;
	criu_readopts(&ro);
	s = snap_open(file, &ro);
	rc = s == NULL ? -1 : criu_write(s, dir, o, &st);
	criu_storefree(o->store);
	snap_free(s);
	if (rc == 0 && verbose)
		say_stat(dir, &st);
	return rc == -1 ? -1 : command_print(dir, o);
}

/*
 * Only what is named is needed: the input, the directory, which is made, and
 * the parent's; to check, where dir is NULL, the input.
 */
static void
confine_images(char *file, char *dir, const char *parent)
{
	const struct confined need = { .in = &file, .nin = 1,
	    .parent = parent, .outdir = dir };

	program_signals();
	program_confine(&need, verbose);
}

enum { OPT_CGROUP_ROOT = OPT_LONG, OPT_CGROUPS, OPT_PARENT };

static struct job {		/* what the command line asks for */
	char		*dir;	/* NULL: none */
	char		*parent; /* the images that it changed since; or NULL */
	const char	*path;	/* of a snapshot; NULL: standard output */
	bool		 compress; /* the snapshot */
	bool		 reverse; /* make a snapshot */
	bool		 check;	/* write nothing */
} job;

static unsigned int need;
static struct buf words;
static struct criuopts co = { .warn = program_lose, .note = say_note,
    .need = &need, .words = &words, .progress = &progress };

/*
 * Have criu told that the cgroups of a hierarchy, or of all, have another root:
 * where is its path, behind the name of the hierarchy and a colon.
 */
static void
root_add(const char *where)
{
	const char *colon = strchr(where, ':');

	if (*(colon == NULL ? where : colon + 1) != '/')
		errx(2, "--cgroup-root %s: no path", where);
	co.cgroup_root = true;
	buf_puts(co.words, " --cgroup-root ");
	shell_word(co.words, where);
}

/*
 * Take option letter with its argument.
 */
static void
parse(int letter, char *arg)
{
	if (letter == OPT_CGROUP_ROOT)
		root_add(arg);
	else if (letter == 'f' && criu_leave(arg, &co.leave) == -1)
		errx(2, "-f %s", snap_errstr());
	else if (letter == OPT_CGROUPS &&
	    criu_cgroups(arg, &co.cgroups) == -1)
		errx(2, "--manage-cgroups %s", snap_errstr());
}

static const struct opt opts[] = {
	{ 'c', "check", NULL, "only tell what cannot be restored",
	    .flag = &job.check },
	{ 'D', "images-dir", "dir", "the directory of the images",
	    .word = &job.dir },
	{ 'f', "force", "kind,...",
	    "leave out of these kinds what is not restored", .call = parse },
	{ 'O', "overwrite", NULL, "replace images that are there",
	    .flag = &co.overwrite },
	{ 'o', "output", "file", "write to file, not to standard output",
	    .outfile = &job.path },
	{ 'p', "pid", "pid", "this process and its descendants only",
	    .number = &co.root, 1, INT32_MAX },
	{ 't', "tree", "pid", NULL, .number = &co.root, 1, INT32_MAX },
	{ 'u', "unload", NULL, "make a snapshot of images, as snapcat does",
	    .flag = &job.reverse },
	{ 'v', "verbose", NULL, "tell what was written", .flag = &verbose },
	{ 'z', "compress", NULL, "compress the snapshot, as gzip(1) does",
	    .flag = &job.compress },
	{ OPT_PARENT, "parent", "dir",
	    "the images hold what changed since those there",
	    .word = &job.parent },
	{ OPT_CGROUP_ROOT, "cgroup-root", "[name:]path",
	    "another root of their cgroups", .call = parse },
	{ OPT_CGROUPS, "manage-cgroups", "mode",
	    "restore cgroups: soft, full, ...", .call = parse },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Make images of criu(8) of a snapshot, or a snapshot of such.",
	.synopsis = (const char *const[]){
		"[-Ov] [-f kind,...] [-p pid] [--parent dir]",
		"         [--manage-cgroups=mode] [--cgroup-root=[name:]path]",
		"         -D dir [file]",
		"-c [-D dir] [-f kind,...] [-p pid]",
		"         [--manage-cgroups=mode] [file]",
		"-u [-vz] -D dir [-o file]",
		NULL
	},
	.opts = opts
};

/*
 * Write a snapshot of images, as snapcat does.  Return the exit status.
 */
static int
unload(void)
{
	struct sources from = { 0 };
	const struct joining join = { .from = &from, .path = job.path,
	    .compress = job.compress, .verbose = verbose };

	sources_file(&from, job.dir);
	return join_run(&join);
}

/*
 * Return whether options were given that do not go along with each other.
 */
static bool
job_misused(int operands)
{
	if (co.cgroup_root && co.cgroups == CGROUPS_IGNORE)
		return true;
	if (job.check)
		return job.reverse || co.overwrite || verbose ||
		    co.parent != NULL || operands > 1 || job.path != NULL ||
		    job.compress;
	if (job.dir == NULL)
		return true;
	if (job.reverse)
		return operands > 0 || co.overwrite || co.leave != 0 ||
		    co.cgroups != CGROUPS_IGNORE || co.root != 0 ||
		    co.parent != NULL;
	return operands > 1 || job.path != NULL || job.compress;
}

int
main(int argc, char *argv[])
{
	int rc;

	program_descriptors();
	argv = options_take(&cmdline, argc, argv);
	co.parent = job.parent;
	if (job_misused(argc - optind))
		options_misuse(&cmdline);
	if (job.reverse)
		return unload();
	confine_images(argv[0], job.check ? NULL : job.dir, co.parent);
	progress_show(&progress, getprogname());
	rc = job.check ? check(argv[0], job.dir != NULL ? job.dir : "DIR",
	    &co) : load(argv[0], job.dir, &co);
	progress_hide();
	buf_free(&words);
	if (rc == -1)
		program_warn("%s", snap_errstr());
	return rc == 0 && !program_lost() ? 0 : 1;
}
