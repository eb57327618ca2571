/*
 * snapgrep: find what is somewhere in the memory of the processes of a
 * snapshot.
 */
#include "snapgrep.h"

#include <err.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
	{ 'a', "all", NULL, "each place, also those of the same page" },
	{ 'A', "after-context", "n", NULL },
	{ 'B', "before-context", "n", NULL },
	{ 'c', "count", NULL, "how many matches each process has" },
	{ 'C', "context", "n", "n bytes around, too, as of hexdump -C" },
	{ 'e', "regexp", "pattern", "look for this, and others of -e" },
	{ 'E', "extended-regexp", NULL, NULL },
	{ 'F', "fixed-strings", NULL, "a pattern is a string" },
	{ 'i', "ignore-case", NULL, "a and A are the same" },
	{ 'l', "list", NULL, "the processes that have a match" },
	{ 'm', "max-count", "n", "n matches of each process" },
	{ 'M', "mapping", "what", "heap, stack, anon, file, a name, rw-p" },
	{ 'n', "number", "type", "a number of 1, 2, 4, 8 bytes, 4be" },
	{ 'o', "only-matching", NULL, "nothing but what matches" },
	{ 'p', "pid", "pids", "in these processes; without file, live" },
	{ 'P', "pointer", "address", "who points there, or into a-b" },
	{ 'q', "quiet", NULL, NULL },
	{ 'r', "range", "a-b", "at these addresses" },
	{ 'R', "pointer-range", "a-b", NULL },
	{ 'u', "wide", NULL, "a string in UTF-16" },
	{ 'w', "word-regexp", NULL, "whole words" },
	{ 'x', "hex", NULL, "bytes, as de ad ?? ef" },
	{ 'Y', "yara", "file", "who fits rules of YARA" },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Find what is in the memory of processes in snapshots.",
	.synopsis = (const char *const[]){
		"[-acEFiloquwx] [-ABCm n] [-M what] [-n type] [-p pids] "
		    "[-r a-b]",
		"     -P address|-R a-b|-Y file|-e pattern|pattern "
		    "[file|pid|name ...]",
		NULL
	},
	.opts = opts
};

struct command {		/* what the command line asks for */
	struct pattern	 pattern;
	struct chosen	 chosen;
	struct report	 report;
	bool		 kind;	/* of patterns, was given */
	bool		 string; /* it is a string, */
	bool		 bytes;	/* or hexadecimal digits, */
	bool		 number; /* or a number */
	size_t		 others; /* what is looked for and is no pattern */
	char		**e;	/* owned, its strings borrowed; of -e */
	size_t		 ne;
};

static void __attribute__((noreturn))
fail(void)
{
	program_warn("%s", snap_errstr());
	exit(2);
}

static uint64_t
number(int option, const char *s)
{
	const char *bad;
	long long n;

	n = strtonum(s, 0, INT64_MAX, &bad);
	if (bad != NULL) {
		(void)errstr_set("-%c: a number is needed, and not \"%s\"",
		    option, s);
		fail();
	}
	return (uint64_t)n;
}

/*
 * Bytes of context: as many as one wants to see.
 */
static size_t
context(struct report *r, int option, const char *s)
{
	uint64_t n = number(option, s);

	r->dump = true;
	return n < KB * KB ? (size_t)n : KB * KB;
}

/*
 * Take an option that tells what is looked for.  Return false of others.
 */
static bool
option_pattern(struct command *cmd, int c)
{
	struct pattern *p = &cmd->pattern;
	int rc = 0;

	cmd->kind = cmd->kind || strchr("EFinuwx", c) != NULL;
	switch (c) {
	case 'e':
		cmd->e[cmd->ne++] = optarg;
		break;
	case 'E':
		p->kind = PATTERN_REGEX;
		break;
	case 'F':
		cmd->string = true;
		p->kind = PATTERN_FIXED;
		break;
	case 'i':
		p->nocase = true;
		break;
	case 'n':
		cmd->number = true;
		rc = pattern_number(p, optarg);
		break;
	case 'P':
	case 'R':
		cmd->others++;
		rc = pattern_pointer(p, optarg);
		break;
	case 'u':
		cmd->string = true;
		p->utf16 = true;
		break;
	case 'w':
		p->word = true;
		break;
	case 'x':
		cmd->bytes = true;
		p->kind = PATTERN_HEX;
		break;
	case 'Y':
		cmd->others++;
		rc = yara_open(p, optarg);
		break;
	default:
		return false;
	}
	if (rc == -1)
		fail();
	return true;
}

/*
 * Take an option that tells where to look.  Return false of others.
 */
static bool
option_chosen(struct chosen *ch, int c)
{
	int rc;

	switch (c) {
	case 'M':
		rc = chosen_mapping(ch, optarg);
		break;
	case 'p':
		sources_pick(&ch->sources, optarg);
		rc = 0;
		break;
	case 'r':
		rc = chosen_range(optarg, &ch->first, &ch->last);
		break;
	default:
		return false;
	}
	if (rc == -1)
		fail();
	return true;
}

static void
option_report(struct report *r, int c)
{
	switch (c) {
	case 'a':
		r->all = true;
		break;
	case 'A':
		r->behind = context(r, c, optarg);
		break;
	case 'B':
		r->before = context(r, c, optarg);
		break;
	case 'c':
		r->count = true;
		break;
	case 'C':
		r->before = r->behind = context(r, c, optarg);
		break;
	case 'l':
		r->list = true;
		break;
	case 'm':
		r->limited = true;
		r->most = number(c, optarg);
		break;
	case 'o':
		r->only = true;
		break;
	case 'q':
		r->quiet = true;
		break;
	}
}

/*
 * Search the processes of a snapshot that have pointers like the pattern, or
 * all for any other pattern.
 */
static int
search(struct command *cmd, struct snap *s)
{
	struct plan p;
	struct search *se;
	const char *why;
	int rc;

	se = NULL;
	rc = plan_make(&p, s, &cmd->chosen, &cmd->pattern);
	if (rc == 0 && p.nowner > 0)
		rc = (se = search_new(&p)) == NULL ? -1 :
		    cmd->pattern.kind == PATTERN_YARA ?
		    yara_report(&cmd->report, se, &p) :
		    report(&cmd->report, se, &p);
	if (se != NULL && search_lost(se, &why) > 0)
		program_lose(NULL, why);
	if (se != NULL && search_costly(se))
		program_lose(NULL, "what matches the pattern would take too "
		    "long in some places, which were left out");
	search_free(se);
	plan_free(&p);
	return rc;
}

/*
 * Search for pointers of each length and order that a snapshot has.
 */
static int
search_pointers(struct command *cmd, struct snap *s)
{
	unsigned int done, bit;
	size_t i, word;
	bool big;
	int rc;

	for (i = 0, rc = 0, done = 0; i < s->nproc && rc == 0; i++) {
		pointer_of(s, s->proc[i], &word, &big);
		bit = 1U << (word + big);
		if ((done & bit) != 0 || s->proc[i]->carried != NULL)
			continue;
		done |= bit;
		cmd->pattern.pointer = word;
		cmd->pattern.big = big;
		if ((rc = pattern_finish(&cmd->pattern)) == 0)
			rc = search(cmd, s);
	}
	return rc;
}

static int
grep_file(struct command *cmd, const char *path, bool named)
{
	struct readopts o = { .warn = program_lose };
	struct snap *s;
	int rc;

	cmd->report.path = named ? path : NULL;
	if ((s = snap_open(path, &o)) == NULL) {
		program_warn("%s", snap_errstr());
		return -1;
	}
	rc = cmd->pattern.kind == PATTERN_POINTER ? search_pointers(cmd, s) :
	    search(cmd, s);
	if (rc == -1)
		program_warn("%s: %s", path, snap_errstr());
	snap_free(s);
	return rc;
}

/*
 * Have the patterns of the command line, which are of the kind that it tells.
 */
static void
patterns(struct command *cmd, char *const argv[])
{
	size_t i;
	int rc;

	rc = 0;
	if (cmd->others > 1 ||
	    (cmd->others > 0 && (cmd->kind || cmd->ne > 0)) ||
	    cmd->string + cmd->bytes + cmd->number > 1)
		options_misuse(&cmdline);
	if (cmd->others == 0 && cmd->ne == 0) {
		if (argv[optind] == NULL)
			options_misuse(&cmdline);
		rc = pattern_add(&cmd->pattern, argv[optind++]);
	}
	for (i = 0; i < cmd->ne && rc == 0; i++)
		rc = pattern_add(&cmd->pattern, cmd->e[i]);
	if (rc == -1 || pattern_finish(&cmd->pattern) == -1)
		fail();
}

static bool
is_colored(void)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && term != NULL &&
	    strcmp(term, "dumb") != 0 && (no == NULL || *no == '\0');
}

int
main(int argc, char *argv[])
{
	struct command cmd = { .chosen.last = UINT64_MAX };
	struct confined need = { 0 };
	struct sources *from = &cmd.chosen.sources;
	size_t i;
	int c, rc;

	/* it asks others of ours how far they are */
	signal(SIGUSR1, SIG_IGN);
	if ((cmd.e = calloc((size_t)argc, sizeof *cmd.e)) == NULL)
		err(2, NULL);
	while ((c = options_next(&cmdline, argc, argv)) != -1)
		if (!option_pattern(&cmd, c) && !option_chosen(&cmd.chosen, c))
			option_report(&cmd.report, c);
	patterns(&cmd, argv);
	cmd.report.terminal = isatty(STDOUT_FILENO) == 1;
	cmd.report.color = is_colored();
	sources_operands(from, argv + optind, SOURCES_FILES);
	sources_capture(from);
	need.in = from->file.v;
	need.nin = from->file.n;
	program_files();	/* of images, each process's stay open */
	if (confine(&need) == -1)
		fail();
	rc = 0;
	for (i = 0; i < need.nin && !(cmd.report.quiet && cmd.report.found);
	    i++)
		if (grep_file(&cmd, need.in[i], need.nin > 1) == -1)
			rc = -1;
	if (!(cmd.report.quiet && cmd.report.found))
		sources_check(from);
	yara_close(&cmd.pattern);
	pattern_free(&cmd.pattern);
	chosen_free(&cmd.chosen);
	free(cmd.e);
	if (fflush(stdout) == EOF || ferror(stdout))
		err(2, "standard output");
	if (cmd.report.quiet && cmd.report.found)
		return 0;
	if (rc == -1 || program_lost())
		return 2;
	return cmd.report.found ? 0 : 1;
}
