/*
 * snapcrash: keep a snapshot of each process that crashes.
 */
#include "crash.h"

#include <err.h>
#include <unistd.h>

static char usual[] = CONFIG, *config = usual;
static const char *out;		/* output file of "snapcrash dump", or NULL */
static time_t since, until = INT64_MAX;
static struct listing how = { .table.option = "--columns" };
static bool last;		/* list only the last crash */
static bool by_socket;

static void
moment(int letter, char *arg)
{
	if (!time_parse(arg, letter == 'S' ? &since : &until))
		errx(2, "-%c %s: not a valid time", letter, arg);
}

static const struct opt opts[] = {
	{ '1', "last", NULL, "list only the last crash", .flag = &last },
	{ 'c', "config", "file",
	    "read this instead of /etc/snapcrash.conf", .word = &config },
	{ OPT_LONG, "columns", "list", "list these columns (+list: add these)",
	    .word = &how.table.list },
	{ 'J', "json", NULL, NULL, .flag = &how.table.json },
	{ 'j', "json", NULL, "print JSON, one object per crash",
	    .flag = &how.table.json },
	{ 'n', "lines", "number", "list only the last crashes, at most number",
	    .number = &how.most, 1, INT_MAX },
	{ OPT_LONG + 1, "noheadings", NULL, "omit headings",
	    .flag = &how.table.bare },
	{ 'o', "output", "file", "dump to file instead of standard output",
	    .outfile = &out },
	{ 'r', "reverse", NULL, "list the newest first", .flag = &how.reverse },
	{ 's', "socket", NULL, "have the kernel send cores to a socket",
	    .flag = &by_socket },
	{ 'S', "since", "time",
	    "only crashes since time: -2h, 14:30, 2026-11-23", .call = moment },
	{ 'U', "until", "time", "only crashes until time", .call = moment },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Keep a snapshot of each process that crashes.",
	.synopsis = (const char *const[]){
		"[-c file] [-s] install|remove|status|serve",
		"[-jr1] [-c file] [--columns list] [-n number] [--noheadings]",
		"    [-S time] [-U time] list [crash ...]",
		"[-j] [-c file] [-S time] [-U time] info [crash]",
		"[-c file] [-S time] [-U time]",
		"    stack|debug [crash [argument ...]]",
		"[-c file] [-o file] [-S time] [-U time] dump [crash]",
		"[-c file] [-S time] [-U time] rm crash ...",
		NULL
	},
	.opts = opts
};

/*
 * Remove the snapshots of the crashes of l that words match. Return the exit
 * status.
 */
static int
crashes_remove(struct crashes *l, char *const words[])
{
	struct crash *c;

	if (*words == NULL)
		options_misuse(&cmdline);
	for (; *words != NULL; words++) {
		c = crash_find(l, *words);
		if (unlink(c->file) == -1)
			err(1, "%s", *words);
		free(c->file);
		l->n--;
		memmove(c, c + 1, (size_t)(l->v + l->n - c) * sizeof *c);
	}
	return 0;
}

/*
 * Run command argv[0] with its arguments on the crashes of l. Return the exit
 * status.
 */
static int
run(struct crashes *l, char *argv[])
{
	const char *const what = *argv++;
	char *const *const more = *argv == NULL ? argv : argv + 1;

	if (strcmp(what, "list") == 0) {
		how.words = argv;
		return show_list(l, &how);
	}
	if (strcmp(what, "info") == 0 && *more == NULL)
		return show_info(crash_find(l, *argv), how.table.json);
	if (strcmp(what, "dump") == 0 && *more == NULL)
		return show_dump(crash_find(l, *argv), out);
	if (strcmp(what, "stack") == 0)
		return show_stack(crash_find(l, *argv), more);
	if (strcmp(what, "debug") == 0)
		return show_debug(crash_find(l, *argv), more);
	if (strcmp(what, "rm") == 0)
		return crashes_remove(l, argv);
	options_misuse(&cmdline);
}

int
main(int argc, char *argv[])
{
	struct crashes l;
	struct config c;
	int rc, wrong;

	argv = options_take(&cmdline, argc, argv);
	how.reverse = how.reverse || last;
	if (last)
		how.most = 1;
	if (*argv == NULL || (out != NULL && strcmp(*argv, "dump") != 0))
		options_misuse(&cmdline);
	if (strcmp(*argv, "take") == 0)
		take_begin();
	wrong = config_read(&c, config);
	/* the default file may be missing */
	if (wrong == -1 && errno == ENOENT && strcmp(config, CONFIG) == 0)
		wrong = 0;
	if (wrong == -1)
		program_warn("%s", snap_errstr());
	if (strcmp(*argv, "take") == 0)
		return crash_take(&c, argv + 1);
	if (wrong == -1)
		return 1;
	if (strcmp(*argv, "serve") == 0 && argv[1] == NULL)
		return crash_serve(&c, config);
	if (strcmp(*argv, "install") == 0 && argv[1] == NULL && wrong != 0)
		errx(1, "not installed: %s contains errors", config);
	if (strcmp(*argv, "install") == 0 && argv[1] == NULL)
		return handler_install(&c, config, by_socket);
	if (strcmp(*argv, "remove") == 0 && argv[1] == NULL)
		return handler_remove(&c);
	if (store_read(&c, &l) == -1)
		errx(1, "%s", snap_errstr());
	if (strcmp(*argv, "status") == 0 && argv[1] == NULL)
		rc = handler_status(&c, &l);
	else {
		crashes_between(&l, since, until);
		rc = run(&l, argv);
	}
	store_free(&l);
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "standard output");
	return rc;
}
