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
	{ 'c', "config", "file", "not /etc/snapcrash.conf" },
	{ 'j', "json", NULL, "as JSON, an object a crash, for programs" },
	{ 's', "socket", NULL, "have the kernel send cores to a socket" },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Keep a snapshot of each process that crashes.",
	.synopsis = (const char *const[]){
		"[-c file] [-s] install",
		"[-c file] remove|status|serve",
		"[-c file] [-j] list|info [crash]",
		"[-c file] stack|debug [crash [argument ...]]",
		"[-c file] rm crash ...",
		NULL
	},
	.opts = opts
};

/*
 * Return the crash that a word means, at the exit of the program if there is
 * none.
 */
static struct crash *
crash_find(struct crashes *l, const char *word)
{
	struct crash *c;

	if ((c = store_find(l, word)) == NULL && word == NULL)
		errx(1, "nothing has crashed");
	if (c == NULL)
		errx(1, "%s: no such crash (snapcrash list)", word);
	return c;
}

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
		rc = merge_forget(conf, l, ino, n) == -1;
	free(ino);
	return rc;
}

/*
 * Do what a command says with the crashes that there are.  Return the exit
 * status.
 */
static int
run(const struct config *c, char *argv[], bool json)
{
	const char *const what = *argv++;
	struct crashes l;
	char *const *more;
	int rc;

	if (store_read(c, &l) == -1)
		errx(1, "%s", snap_errstr());
	more = *argv == NULL ? argv : argv + 1;
	if (strcmp(what, "list") == 0 && *argv == NULL)
		rc = show_list(&l, json);
	else if (strcmp(what, "list") == 0 && *more == NULL)
		rc = show_list(&(struct crashes){ crash_find(&l, *argv), 1 },
		    json);
	else if (strcmp(what, "info") == 0 && *more == NULL)
		rc = show_info(crash_find(&l, *argv), json);
	else if (strcmp(what, "stack") == 0)
		rc = show_stack(crash_find(&l, *argv), more);
	else if (strcmp(what, "debug") == 0)
		rc = show_debug(crash_find(&l, *argv), more);
	else if (strcmp(what, "rm") == 0)
		rc = crashes_remove(c, &l, argv);
	else
		options_misuse(&cmdline);
	store_free(&l);
	return rc;
}

int
main(int argc, char *argv[])
{
	const char *path = CONFIG;
	bool json = false, by_socket = false;
	struct config c;
	int i;

	while ((i = options_next(&cmdline, argc, argv)) != -1)
		switch (i) {
		case 'c':
			path = optarg;
			break;
		case 'j':
			json = true;
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
	/* the usual one need not be there */
	if (config_read(&c, path) == -1 && (errno != ENOENT ||
	    strcmp(path, CONFIG) != 0))
		errx(1, "%s", snap_errstr());
	if (strcmp(*argv, "take") == 0)
		return crash_take(&c, argv + 1);
	if (strcmp(*argv, "serve") == 0 && argv[1] == NULL)
		return crash_serve(&c, path);
	if (strcmp(*argv, "install") == 0 && argv[1] == NULL)
		return handler_install(&c, path, by_socket);
	if (strcmp(*argv, "remove") == 0 && argv[1] == NULL)
		return handler_remove(&c);
	if (strcmp(*argv, "status") == 0 && argv[1] == NULL)
		return handler_status(&c);
	return run(&c, argv, json);
}
