/*
 * The command line of a program: getopt_long(3) and --help from one table.
 */
#include "common.h"

#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPTIONS = 40,		/* that a program may have */
	OPT_HELP = 0x1000,
	OPT_VERSION,
	NAME_WIDTH = 20		/* of names in --help */
};

static const struct opt always[] = {
	{ OPT_HELP, "help", NULL, "print this" },
	{ OPT_VERSION, "version", NULL, "print the version" },
	{ 0 }
};

/*
 * Print the synopsis of a command line to f.
 */
static void
synopsis_print(const struct cmdline *u, FILE *f)
{
	const char *const *s;

	for (s = u->synopsis; *s != NULL; s++)
		fprintf(f, "%s %s%s%s\n", s == u->synopsis ? "usage:" :
		    "      ", **s == ' ' ? "" : getprogname(),
		    **s == ' ' ? "" : " ", *s);
}

/*
 * Print the options in o to standard output, and what they do, but those
 * without a text.
 */
static void
opts_print(const struct opt *o)
{
	char name[80];

	for (; o->letter != 0; o++) {
		if (o->text == NULL)
			continue;
		snprintf(name, sizeof name, "--%s%s%s", o->name,
		    o->arg == NULL ? "" : "=", o->arg == NULL ? "" : o->arg);
		if (o->letter < OPT_LONG)
			printf("  -%c, ", o->letter);
		else
			printf("      ");
		printf("%-*s  %s\n", NAME_WIDTH, name, o->text);
	}
}

/*
 * Print what --help asks for, or --version, and exit.
 */
static void __attribute__((noreturn))
always_print(const struct cmdline *u, int letter)
{
	if (letter == OPT_VERSION)
		printf("%s (snap) %s\n", getprogname(), SNAP_VERSION);
	else {
		synopsis_print(u, stdout);
		printf("%s\n\n", u->about);
		opts_print(u->opts);
		opts_print(always);
	}
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "standard output");
	exit(0);
}

/*
 * Add the options in o, at most max, to what getopt_long(3) takes: to the
 * letters in s, which has room for two of each, and at *l, which is set to
 * the end of them.
 */
static void
opts_add(const struct opt *o, size_t max, char *s, struct option **l)
{
	for (s += strlen(s); o->letter != 0 && max > 0; o++, max--) {
		if (o->letter < OPT_LONG) {
			*s++ = (char)o->letter;
			if (o->arg != NULL)
				*s++ = ':';
		}
		*(*l)++ = (struct option){ o->name, o->arg == NULL ?
		    no_argument : required_argument, NULL, o->letter };
	}
	*s = '\0';
}

/*
 * Return the next option on the command line argv, of argc words, as the table
 * of u has it, with its argument in getopt(3)'s optarg; -1 behind the last one.
 * --help and --version are answered, and what is no option or lacks its
 * argument is told, at the exit of the program.
 */
int
options_next(const struct cmdline *u, int argc, char *const argv[])
{
	struct option longs[OPTIONS + sizeof always / sizeof *always];
	struct option *l = longs;
	char s[2 * OPTIONS + 2];
	int c;

	memset(longs, 0, sizeof longs);
	strlcpy(s, u->ordered ? "+" : "", sizeof s);
	opts_add(u->opts, OPTIONS, s, &l);
	opts_add(always, sizeof always / sizeof *always - 1, s, &l);
	if ((c = getopt_long(argc, argv, s, longs, NULL)) == '?')
		options_misuse(u);
	if (c == OPT_HELP || c == OPT_VERSION)
		always_print(u, c);
	return c;
}

/*
 * Tell what a command line may be, by u, and exit with 2.
 */
void
options_misuse(const struct cmdline *u)
{
	synopsis_print(u, stderr);
	fprintf(stderr, "       %s --help\n", getprogname());
	exit(2);
}

/*
 * Return true if each byte of s is the letter of an option of u.
 */
bool
options_are(const struct cmdline *u, const char *s)
{
	const struct opt *o;

	for (; *s != '\0'; s++) {
		for (o = u->opts; o->letter != 0 && o->letter != *s; o++)
			continue;
		if (o->letter == 0)
			return false;
	}
	return true;
}
