/*
 * snapload: convert a snapshot to a directory of CRIU images, and back.
 */
#include "receive.h"

#include "common/common.h"

#include <err.h>
#include <unistd.h>

static struct sources from;	/* -@; with -u also the images */
static bool verbose;
static struct progress progress;

/*
 * Print the sizes of the images written to directory dir.
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
 * Print to standard output the command that restores the images in dir.
 * *o->need and o->words have the options of the command. Print nothing unless
 * *o->need contains CRIU_MADE. Return 0, or -1 with errstr set.
 */
static int
command_print(const char *dir, const struct criuopts *o)
{
	const unsigned int need = *o->need;
	struct buf b = { 0 };
	char *text;
	int rc = 0;

	if (!(need & CRIU_MADE))
		return 0;
	criu_command(&b, dir, need, o->words);
	if ((text = buf_text(&b)) == NULL)
		return -1;
	if (puts(text_sanitize(text)) == EOF || fflush(stdout) == EOF)
		rc = errstr_sys("standard output");
	free(text);
	return rc;
}

/*
 * Check that the snapshot in file can be converted to images. Print the command
 * that would restore such images from dir. Return 0, or -1 with errstr set.
 */
static int
check(const char *file, const char *dir, struct criuopts *o)
{
	struct readopts ro = { .progress = o->progress, MOMENT_OF(from) };
	struct snap *s;
	int rc;

	criu_readopts(&ro);
	if ((s = snap_load(file, &ro)) == NULL)
		return -1;
	rc = criu_check(s, o);
	snap_free(s);
	return rc == -1 ? -1 : command_print(dir, o);
}

/*
 * Write images of the snapshot in file to directory dir. Then print the command
 * that restores them. Return 0, or -1 with errstr set.
 */
static int
load(const char *file, const char *dir, struct criuopts *o)
{
	struct criustat st = { 0 };
	struct readopts ro = { .progress = o->progress, MOMENT_OF(from) };
	struct snap *s;
	int rc;

	if ((o->store = ro.store = criu_store(dir, o)) == NULL)
		return -1;
	criu_readopts(&ro);
	s = snap_load(file, &ro);
	rc = s == NULL ? -1 : criu_write(s, dir, o, &st);
	criu_storefree(o->store);
	snap_free(s);
	if (rc == 0 && verbose)
		say_stat(dir, &st);
	if (st.lazy)
		buf_puts(o->words, LAZY);
	return rc == -1 ? -1 : command_print(dir, o);
}

/*
 * Confine the program to the input file, directory dir and directory parent.
 * Create dir, unless it is NULL because the snapshot is only checked.
 */
static void
confine_images(char *file, char *dir, const char *parent)
{
	const struct confined need = { .in = &file, .nin = 1,
	    .parent = parent, .outdir = dir };

	program_signals();
	program_confine(&need, verbose);
}

enum {
	OPT_CGROUP_ROOT = OPT_LONG, OPT_CGROUPS, OPT_PARENT, OPT_RECEIVE,
	OPT_STDIO_NULL, OPT_TCP_CLOSE
};

static struct job {		/* command-line options */
	char		*dir;	/* directory for the images; NULL: none */
	char		*parent; /* write only changes since these images; NULL:
				    write everything */
	const char	*path;	/* output snapshot; NULL: standard output */
	bool		 reverse; /* make a snapshot from images */
	bool		 check;	/* only check, and write nothing */
	bool		 receive; /* receive and restore moved processes */
	bool		 stdnull; /* replace their standard streams */
} job;

static unsigned int need;
static struct buf words;
static struct criuopts co = { .warn = program_lose, .note = program_say,
    .need = &need, .words = &words, .progress = &progress };

/*
 * Add option --cgroup-root to the printed criu command. root is the new root of
 * all cgroups. If it begins with NAME:, it applies only to the hierarchy NAME.
 */
static void
root_add(const char *root)
{
	const char *colon = strchr(root, ':');

	if (*(colon == NULL ? root : colon + 1) != '/')
		errx(2, "--cgroup-root %s: not an absolute path", root);
	co.cgroup_root = true;
	buf_puts(co.words, " --cgroup-root ");
	shell_word(co.words, root);
}

/*
 * Handle the option with this letter; arg is its argument.
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
	MOMENT_OPTION(from),
	{ 'c', "check", NULL, "only print what cannot be restored",
	    .flag = &job.check },
	{ 'D', "images-dir", "dir", "directory for the images",
	    .word = &job.dir },
	{ 'f', "force", "kind,...",
	    "omit objects of these kinds that cannot be restored",
	    .call = parse },
	{ 'O', "overwrite", NULL, "replace existing images",
	    .flag = &co.overwrite },
	{ 'o', "output", "file", "write to file instead of standard output",
	    .outfile = &job.path },
	{ 'p', "pid", "pid", "only this process and its descendants",
	    .number = &co.root, 1, INT32_MAX },
	{ 't', "tree", "pid", NULL, .number = &co.root, 1, INT32_MAX },
	{ 'u', "unload", NULL, "convert images to a snapshot, as snapcat does",
	    .flag = &job.reverse },
	{ 'v', "verbose", NULL, "print what was written", .flag = &verbose },
	{ 'z', "compress", NULL, "compress the pages, or the snapshot",
	    .flag = &co.compress },
	{ OPT_PARENT, "parent", "dir",
	    "write only changes since the images in dir",
	    .word = &job.parent },
	{ OPT_CGROUP_ROOT, "cgroup-root", "[name:]path",
	    "restore cgroups below another root", .call = parse },
	{ OPT_CGROUPS, "manage-cgroups", "mode",
	    "restore cgroups: soft, full, ...", .call = parse },
	{ OPT_RECEIVE, "receive", NULL,
	    "restore processes that snap --to sends", .flag = &job.receive },
	{ OPT_STDIO_NULL, "stdio-null", NULL,
	    "with --receive, standard streams become /dev/null",
	    .flag = &job.stdnull },
	{ OPT_TCP_CLOSE, "tcp-close", NULL, "close all TCP connections",
	    .flag = &co.tcp_close },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Convert a snapshot to images of criu(8), or back.",
	.synopsis = (const char *const[]){
		"[-Ovz] [-@ moment] [-f kind,...] [-p pid] [--option ...]",
		"         -D dir [file]",
		"-c [-@ moment] [-D dir] [-f kind,...] [-p pid] "
		    "[--option ...]",
		"         [file]",
		"-u [-vz] -D dir [-o file]",
		"--receive [-v] [-D dir] [-f kind,...] [--option ...]",
		NULL
	},
	.opts = opts
};

/*
 * Return true if the options contradict each other or do not fit the number of
 * operands.
 */
static bool
job_misused(int operands)
{
	if ((co.cgroup_root && co.cgroups == CGROUPS_IGNORE) ||
	    (job.stdnull && !job.receive))
		return true;
	if (job.check)
		return job.receive || job.reverse || co.overwrite || verbose ||
		    co.parent != NULL || operands > 1 || job.path != NULL ||
		    co.compress;
	if (job.receive)
		return job.reverse || co.overwrite || job.path != NULL ||
		    co.compress || co.parent != NULL || operands > 0 ||
		    co.root != 0;
	if (job.dir == NULL)
		return true;
	if (job.reverse)
		return operands > 0 || co.overwrite || co.leave != 0 ||
		    co.cgroups != CGROUPS_IGNORE || co.root != 0 ||
		    co.parent != NULL || co.tcp_close;
	return operands > 1 || job.path != NULL;
}

/*
 * For a move, make images in dir of the snapshot on standard input. lazy is
 * true if criu(8) can restore memory while the processes run. Return 0, or -1
 * after a message.
 */
static int
make(const char *dir, bool lazy)
{
	int rc;

	confine_images(NULL, job.dir != NULL ? job.dir : strdup(dir), NULL);
	/* receive() has created it */
	co.early = co.overwrite = true;
	co.lazy = lazy;
	if ((rc = load(NULL, dir, &co)) == -1)
		program_warn("%s", snap_errstr());
	return rc == 0 && (co.leave != 0 || !program_lost()) ? 0 : -1;
}

int
main(int argc, char *argv[])
{
	int rc;

	program_descriptors();
	if ((rc = receive_script()) != -1)
		return rc;
	argv = options_take(&cmdline, argc, argv);
	co.parent = job.parent;
	if (job_misused(argc - optind))
		options_misuse(&cmdline);
	if (job.reverse) {
		sources_file(&from, job.dir);
		return join_run(&(struct joining){ .from = &from,
		    .path = job.path, .compress = co.compress,
		    .verbose = verbose });
	}
	if (job.receive)
		return receive(job.dir, make, job.stdnull);
	confine_images(argv[0], job.check ? NULL : job.dir, co.parent);
	progress_show(&progress);
	rc = job.check ? check(argv[0], job.dir != NULL ? job.dir : "DIR",
	    &co) : load(argv[0], job.dir, &co);
	progress_hide();
	buf_free(&words);
	if (rc == -1)
		program_warn("%s", snap_errstr());
	return rc == 0 && !program_lost() ? 0 : 1;
}
