/*
 * Parse the command line of a program with getopt_long(3), set what options
 * set, and print --help, all from one table.
 */
#include "common.h"
#include "snap/snap.h"

#include <err.h>
#include <getopt.h>
#include <signal.h>

enum {
	OPTIONS = 40,		/* maximum number of options of a program */
	OPT_HELP = 0x1000,
	OPT_VERSION,
	NAME_WIDTH = 20		/* width of the name column in --help */
};

static const struct opt always[] = {
	{ OPT_HELP, "help", NULL, NULL, .flag = NULL },
	{ OPT_VERSION, "version", NULL, NULL, .flag = NULL },
	{ 0 }
};

/*
 * Print the synopsis of command line u to f.
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
 * Print the options in table o that have a description, with their
 * descriptions, to standard output.
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
 * Print the output of --help or, if letter is OPT_VERSION, of --version, and
 * exit.
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
		puts("      --help, --version     print this help, or the "
		    "version");
	}
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "standard output");
	exit(0);
}

/*
 * Prepare at most max options of o for getopt_long(3). Append their letters to
 * s, which has room for two bytes per option. Store their long options at *l,
 * and advance *l past them.
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
 * Parse s, the argument of option -letter, as a number from min (>= 0) to max.
 * Exit with status 2 if s is not such a number. Return the number.
 */
uint64_t
options_number(int letter, const char *s, int64_t min, int64_t max)
{
	const char *why;
	long long n;

	n = strtonum(s, min, max, &why);
	if (why != NULL)
		errx(2, "-%c %s: the number is %s", letter, s, why);
	return (uint64_t)n;
}

/*
 * Parse s, the argument of option -letter, as a number of seconds, such as 10
 * or 0.5. Exit with status 2 if s is not a number greater than 0. Return the
 * number.
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
 * Return true if s is the process ID of a live process.
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
 * Return s, the argument of option -letter, which names an output file or is
 * "-" for standard output. If s looks like the ID of a live process (-o 4711)
 * or like more options (-ov, -o -v), print a message that asks whether this is
 * a mistake, and exit with status 2. arg is the command-line argument that
 * contains s.
 */
static const char *
outfile(const struct cmdline *u, int letter, const char *s, const char *arg)
{
	bool attached = s != arg && arg[1] != '-'; /* -oFILE, not -o FILE */

	if (strcmp(s, "-") == 0)
		return s;
	if (is_living(s))
		errx(2, "-%c %s: missing file name? this is the ID of a "
		    "process (for a file of that name use ./%s)", letter, s, s);
	if (*s == '-' || (attached && are_letters(u->opts, s)))
		errx(2, "-%c %s: did you mean -%s, and -%c with a file name? "
		    "(for a file of that name use ./%s)", letter, s,
		    s + (*s == '-'), letter, s);
	return s;
}

/*
 * Handle option o with argument s: set the variables that o points to, and call
 * its function, if any. arg is the command-line argument that contains s.
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
 * Parse the options among the argc arguments at argv: those that u describes,
 * --help and --version. If an option is unknown or lacks its argument, print
 * the usage and exit with status 2. Return the operands.
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
 * Print the usage of the program that u describes to standard error, and exit
 * with status 2.
 */
void
options_misuse(const struct cmdline *u)
{
	synopsis_print(u, stderr);
	fprintf(stderr, "       %s --help\n", getprogname());
	exit(2);
}
