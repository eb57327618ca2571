/*
 * The command line of a program: getopt_long(3), what options set, and --help
 * from one table.
 */
#include "common.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
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
	{ OPT_HELP, "help", NULL, "print this", .flag = NULL },
	{ OPT_VERSION, "version", NULL, "print the version", .flag = NULL },
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
 * Return the number that s, the argument of option letter, is, from least, not
 * negative, to most.  Exit 2 if it is none.
 */
uint64_t
options_number(int letter, const char *s, int64_t least, int64_t most)
{
	const char *why;
	long long n;

	n = strtonum(s, least, most, &why);
	if (why != NULL)
		errx(2, "-%c %s: the number is %s", letter, s, why);
	return (uint64_t)n;
}

/*
 * Return the seconds that s, the argument of option letter, is: more than 0,
 * as 10 or 0.5.  Exit 2 if it is none.
 */
static double
seconds(int letter, const char *s)
{
	double t;
	char *end;

	t = strtod(s, &end);
	if (*s == '\0' || s[strspn(s, "0123456789.")] != '\0' ||
	    *end != '\0' || !(t > 0 && t <= 1e6))
		errx(2, "-%c: \"%s\" is not a number of seconds", letter, s);
	return t;
}

/*
 * Return true if s is the number of a process that lives.
 */
static bool
is_living(const char *s)
{
	const char *bad;
	pid_t pid;

	if (!program_isnumber(s))
		return false;
	pid = (pid_t)strtonum(s, 1, INT32_MAX, &bad);
	return bad == NULL && (kill(pid, 0) == 0 || errno == EPERM);
}

/*
 * Return true if each byte of s is the letter of an option in o.
 */
static bool
are_letters(const struct opt *o, const char *s)
{
	size_t i;

	for (; *s != '\0'; s++) {
		for (i = 0; o[i].letter != 0 && o[i].letter != *s; i++)
			continue;
		if (o[i].letter == 0)
			return false;
	}
	return true;
}

/*
 * Return the file to be written that s, the argument of option letter of u, is;
 * arg is the word of the command line that s ends.  Where that is hardly what
 * was meant, exit 2 with a question: a process (-g 4711), other options (-ov,
 * -o -v).  "-" is standard output.
 */
static const char *
outfile(const struct cmdline *u, int letter, const char *s, const char *arg)
{
	bool attached = s != arg && arg[1] != '-';	/* -oFILE */

	if (strcmp(s, "-") == 0)
		return s;
	if (is_living(s))
		errx(2, "-%c %s: that is a process: which file? (a file of "
		    "that name: ./%s)", letter, s, s);
	if (*s == '-' || (attached && are_letters(u->opts, s)))
		errx(2, "-%c %s: did you mean -%s and -%c with a file? (a "
		    "file of that name: ./%s)", letter, s, s + (*s == '-'),
		    letter, s);
	return s;
}

/*
 * Set what option o of u sets to s, its argument, or call what it calls; arg is
 * as in outfile.
 */
static void
opt_take(const struct cmdline *u, const struct opt *o, char *s,
    const char *arg)
{
	if (o->flag != NULL)
		*o->flag = true;
	if (o->word != NULL)
		*o->word = s;
	if (o->outfile != NULL)
		*o->outfile = outfile(u, o->letter, s, arg);
	if (o->seconds != NULL)
		*o->seconds = seconds(o->letter, s);
	if (o->number != NULL)
		*o->number = options_number(o->letter, s, o->least, o->most);
	if (o->source != NULL)
		o->source(u->sources, s);
	if (o->exclude != NULL && ((*o->exclude == NULL &&
	    (*o->exclude = exclude_new()) == NULL) ||
	    exclude_add(*o->exclude, s) == -1))
		errx(2, "-x %s", snap_errstr());
	if (o->call != NULL)
		o->call(o->letter, s);
}

/*
 * Take all options on the command line argv, of argc words, as the table of u
 * has them.  Answer --help and --version.  Return the operands, and print how
 * the program is used and exit 2 where an option is unknown or lacks its
 * argument.
 */
char **
options_take(const struct cmdline *u, int argc, char *argv[])
{
	struct option longs[OPTIONS + sizeof always / sizeof *always];
	struct option *l = longs;
	char s[2 * OPTIONS + 2];
	const struct opt *o;
	int c;

	memset(longs, 0, sizeof longs);
	strlcpy(s, u->ordered ? "+" : "", sizeof s);
	opts_add(u->opts, OPTIONS, s, &l);
	opts_add(always, sizeof always / sizeof *always - 1, s, &l);
	while ((c = getopt_long(argc, argv, s, longs, NULL)) != -1) {
		if (c == '?')
			options_misuse(u);
		if (c == OPT_HELP || c == OPT_VERSION)
			always_print(u, c);
		for (o = u->opts; o->letter != c; o++)
			continue;
		opt_take(u, o, optarg, argv[optind - 1]);
	}
	return argv + optind;
}

/*
 * Print how the program of u is used, and exit 2.
 */
void
options_misuse(const struct cmdline *u)
{
	synopsis_print(u, stderr);
	fprintf(stderr, "       %s --help\n", getprogname());
	exit(2);
}
