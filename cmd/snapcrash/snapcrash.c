/*
 * snapcrash: a snapshot of each process that crashes.
 */
#include "crash.h"
#include "vec.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
	{ '1', "last", NULL, "list the last one only" },
	{ 'c', "config", "file", "not /etc/snapcrash.conf" },
	{ 'j', "json", NULL, "as JSON, an object a crash, for programs" },
	{ 'n', "lines", "number", "list so many, the last ones" },
	{ 'o', "output", "file", "dump to file, not to standard output" },
	{ 'r', "reverse", NULL, "list the newest first" },
	{ 's', "socket", NULL, "have the kernel send cores to a socket" },
	{ 'S', "since", "time", "only what crashed since then: -2h, 14:30, "
	    "2026-11-23" },
	{ 'U', "until", "time", "or until then" },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Keep a snapshot of each process that crashes.",
	.synopsis = (const char *const[]){
		"[-c file] [-s] install",
		"[-c file] remove|status|serve",
		"[-jr1] [-c file] [-n number] [-S time] [-U time]",
		"    list [crash ...]",
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
 * Remove the crashes that words mean.  Return the exit status.
 */
static int
crashes_remove(const struct config *conf, struct crashes *l,
    char *const words[])
{
	ino_t *ino = NULL;	/* files that have other crashes, too */
	struct crash *c;
	size_t n = 0;
	int rc = 0;

	if (*words == NULL)
		options_misuse(&cmdline);
	for (; *words != NULL; words++) {
		c = crash_find(l, *words);
		if (unlink(c->file) == -1)
			err(1, "%s", *words);
		if (c->links > 1 && VEC_ROOM(ino, n) == -1)
			errx(1, "%s", snap_errstr());
		if (c->links > 1)
			ino[n++] = c->ino;
		free(c->file);
		l->n--;
		memmove(c, c + 1, (size_t)(l->v + l->n - c) * sizeof *c);
	}
	if (n > 0)
		rc = merge_forget(conf, ino, n) == -1;
	free(ino);
	return rc;
}

/*
 * Write one crash as a file of its own.  Return the exit status.
 */
static int
crash_dump(struct crash *k, const char *path)
{
	if (path == NULL && isatty(STDOUT_FILENO))
		errx(1, "a snapshot is not for a terminal: -o file");
	return merge_write(&k, 1, path, 0, UINT64_MAX) == 0 ? 0 : 1;
}

/*
 * Do what a command says with the crashes of l.  Return the exit status.
 */
static int
run(const struct config *c, struct crashes *l, char *argv[],
    struct listing *how, const char *path)
{
	const char *const what = *argv++;
	char *const *const more = *argv == NULL ? argv : argv + 1;

	if (strcmp(what, "list") == 0) {
		how->words = argv;
		return show_list(l, how);
	}
	if (strcmp(what, "info") == 0 && *more == NULL)
		return show_info(crash_find(l, *argv), how->json);
	if (strcmp(what, "dump") == 0 && *more == NULL)
		return crash_dump(crash_find(l, *argv), path);
	if (strcmp(what, "stack") == 0)
		return show_stack(crash_find(l, *argv), more);
	if (strcmp(what, "debug") == 0)
		return show_debug(crash_find(l, *argv), more);
	if (strcmp(what, "rm") == 0)
		return crashes_remove(c, l, argv);
	options_misuse(&cmdline);
}

static time_t
moment(int letter)
{
	time_t t;

	if (!time_parse(optarg, &t))
		errx(2, "-%c %s: that is no time", letter, optarg);
	return t;
}

int
main(int argc, char *argv[])
{
	const char *path = CONFIG, *out = NULL, *bad;
	time_t since = 0, until = INT64_MAX;
	struct listing how = { 0 };
	bool by_socket = false;
	struct crashes l;
	struct config c;
	int i, rc, wrong;

	while ((i = options_next(&cmdline, argc, argv)) != -1)
		switch (i) {
		case '1':
			how.most = 1;
			how.reverse = true;
			break;
		case 'c':
			path = optarg;
			break;
		case 'j':
			how.json = true;
			break;
		case 'n':
			how.most = (size_t)strtonum(optarg, 1, INT_MAX, &bad);
			if (bad != NULL)
				errx(2, "-n %s: the number is %s", optarg, bad);
			break;
		case 'o':
			out = program_outfile(argv, i, &cmdline);
			break;
		case 'r':
			how.reverse = true;
			break;
		case 'S':
			since = moment(i);
			break;
		case 'U':
			until = moment(i);
			break;
		case 's':
			by_socket = true;
			break;
		}
	argv += optind;
	if (*argv == NULL)
		options_misuse(&cmdline);
	if (strcmp(*argv, "take") == 0)
		take_begin();
	wrong = config_read(&c, path);
	/* the usual one need not be there */
	if (wrong == -1 && errno == ENOENT && strcmp(path, CONFIG) == 0)
		wrong = 0;
	if (wrong == -1)
		program_warn("%s", snap_errstr());
	if (strcmp(*argv, "take") == 0)
		return crash_take(&c, argv + 1);
	if (wrong == -1)
		return 1;
	if (strcmp(*argv, "serve") == 0 && argv[1] == NULL)
		return crash_serve(&c, path);
	if (strcmp(*argv, "install") == 0 && argv[1] == NULL && wrong != 0)
		errx(1, "nothing is installed: %s is wrong", path);
	if (strcmp(*argv, "install") == 0 && argv[1] == NULL)
		return handler_install(&c, path, by_socket);
	if (strcmp(*argv, "remove") == 0 && argv[1] == NULL)
		return handler_remove(&c);
	if (strcmp(*argv, "status") == 0 && argv[1] == NULL)
		return handler_status(&c);
	if (store_read(&c, &l) == -1)
		errx(1, "%s", snap_errstr());
	crashes_between(&l, since, until);
	rc = run(&c, &l, argv, &how, out);
	store_free(&l);
	return rc;
}
