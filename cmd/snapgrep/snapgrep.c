/*
 * snapgrep: search the memory of the processes of a snapshot.
 */
#include "snapgrep.h"

#include <err.h>
#include <signal.h>
#include <unistd.h>

struct command {		/* command-line options */
	struct pattern	 pattern;
	struct chosen	 chosen;
	struct report	 report;
	bool		 regexp; /* -E */
	bool		 fixed;
	bool		 hex;
	bool		 number;
	size_t		 others; /* number of -P, -R and -Y options given */
	struct words	 e;	/* arguments of -e */
};

static struct command command = { .chosen.last = UINT64_MAX,
    .report.most = UINT64_MAX };

static void __attribute__((noreturn))
fail(void)
{
	program_warn("%s", snap_errstr());
	exit(2);
}

/*
 * Handle the option with this letter; arg is its argument.
 */
static void
parse(int letter, char *arg)
{
	struct pattern *p = &command.pattern;
	struct chosen *c = &command.chosen;
	int rc = 0;

	command.others += strchr("PRY", letter) != NULL;
	switch (letter) {
	case 'e':
		words_add(&command.e, arg);
		break;
	case 'M':
		chosen_mapping(c, arg);
		break;
	case 'n':
		command.number = true;
		rc = pattern_number(p, arg);
		break;
	case 'P':
	case 'R':
		rc = pattern_pointer(p, arg);
		break;
	case 'r':
		rc = chosen_range(arg, &c->first, &c->last);
		break;
	case 'Y':
		rc = yara_open(p, arg);
		break;
	}
	if (rc == -1)
		fail();
}

/*
 * Handle -A, -B and -C, which set the number of context bytes, at most a
 * megabyte.
 */
static void
context(int letter, char *arg)
{
	struct report *r = &command.report;
	uint64_t n = options_number(letter, arg, 0, INT64_MAX);
	size_t len = n < KB * KB ? (size_t)n : KB * KB;

	r->dump = true;
	if (letter != 'A')
		r->before = len;
	if (letter != 'B')
		r->behind = len;
}

static const struct opt opts[] = {
	MOMENT_OPTION(command.chosen.sources),
	{ 'a', "all", NULL, "print every match, even in shared pages",
	    .flag = &command.report.all },
	{ 'A', "after-context", "n", NULL, .call = context },
	{ 'B', "before-context", "n", NULL, .call = context },
	{ 'c', "count", NULL, "print the number of matches in each process",
	    .flag = &command.report.count },
	{ OPT_LONG, "cgroup", "group", NULL, .source = sources_cgroup },
	{ 'C', "context", "n",
	    "dump each match with n bytes before and after it",
	    .call = context },
	{ 'e', "regexp", "pattern", "search for pattern; may be repeated",
	    .call = parse },
	{ 'E', "extended-regexp", NULL, NULL, .flag = &command.regexp },
	{ 'F', "fixed-strings", NULL, "patterns are strings",
	    .flag = &command.fixed },
	{ 'i', "ignore-case", NULL, "ignore case",
	    .flag = &command.pattern.nocase },
	{ 'l', "list", NULL, "list the processes that have a match",
	    .flag = &command.report.list },
	{ 'm', "max-count", "n", "at most n matches in each process",
	    .number = &command.report.most, 0, INT64_MAX },
	{ 'M', "mapping", "what",
	    "only these mappings: heap, stack, file, NAME, rw-p",
	    .call = parse },
	{ 'n', "number", "type",
	    "search for a number; type is 1, 2, 4, 8, 4be, ...",
	    .call = parse },
	{ 'o', "only-matching", NULL, "print only the matching bytes",
	    .flag = &command.report.only },
	{ 'p', "pid", "pids",
	    "only these processes; live ones if no file is given",
	    .source = sources_pick },
	{ 'P', "pointer", "address",
	    "search for pointers to address, or into a-b",
	    .call = parse },
	{ 'q', "quiet", NULL, NULL, .flag = &command.report.quiet },
	{ 'r', "range", "a-b", "only at these addresses", .call = parse },
	{ 'R', "pointer-range", "a-b", NULL, .call = parse },
	{ 'u', "wide", NULL, "search for a string in UTF-16",
	    .flag = &command.pattern.utf16 },
	{ 'w', "word-regexp", NULL, "match only whole words",
	    .flag = &command.pattern.word },
	{ 'x', "hex", NULL,
	    "search for bytes, such as de ad ?? ef", .flag = &command.hex },
	{ 'Y', "yara", "file",
	    "find processes that match YARA rules", .call = parse },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Search the memory of processes in snapshots.",
	.synopsis = (const char *const[]){
		"[-acEFiloquwx] [-@ moment] [-ABCm n] [-M what] [-n type]",
		"         [-p pids] [-r a-b] [--cgroup group]",
		"         -P address|-R a-b|-Y file|-e pattern|pattern "
		    "[file|pid|name ...]",
		NULL
	},
	.opts = opts,
	.sources = &command.chosen.sources
};

/*
 * Search snapshot s for the pattern. If the pattern is a pointer, search only
 * processes whose pointers have that size and byte order. Return 0, or -1 with
 * errstr set.
 */
static int
search(struct command *cmd, struct snap *s)
{
	struct plan p;
	struct search *se = NULL;
	int rc;

	rc = plan_make(&p, s, &cmd->chosen, &cmd->pattern);
	if (rc == 0 && p.nowner > 0 && (se = search_new(&p)) == NULL)
		rc = -1;
	if (se != NULL && cmd->pattern.kind == PATTERN_YARA)
		rc = yara_report(&cmd->report, se, &p);
	else if (se != NULL)
		report(&cmd->report, se, &p);
	if (se != NULL)
		search_warn(se);
	search_free(se);
	plan_free(&p);
	return rc;
}

/*
 * Search s for pointers of each size and byte order. Return 0, or -1 with
 * errstr set.
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
		if ((done & bit) != 0 || s->proc[i]->embedded != NULL)
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
	struct readopts o = { .warn = program_lose,
	    MOMENT_OF(cmd->chosen.sources) };
	struct snap *s;
	int rc;

	cmd->report.path = named ? path : NULL;
	if ((s = snap_load(path, &o)) == NULL) {
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
 * Compile the patterns on the command line. Return the operands that follow
 * them.
 */
static char **
patterns(struct command *cmd, char *argv[])
{
	struct pattern *p = &cmd->pattern;
	size_t i;
	int rc = 0;

	if (cmd->others > 1 || (cmd->others > 0 && (cmd->e.n > 0 ||
	    cmd->regexp || cmd->fixed || cmd->hex || cmd->number ||
	    p->nocase || p->word || p->utf16)) ||
	    (cmd->fixed || p->utf16) + cmd->hex + cmd->number > 1)
		options_misuse(&cmdline);
	if (cmd->fixed || cmd->hex)
		p->kind = cmd->hex ? PATTERN_HEX : PATTERN_FIXED;
	if (cmd->others == 0 && cmd->e.n == 0) {
		if (*argv == NULL)
			options_misuse(&cmdline);
		rc = pattern_add(p, *argv++);
	}
	for (i = 0; i < cmd->e.n && rc == 0; i++)
		rc = pattern_add(p, cmd->e.v[i]);
	if (rc == -1 || pattern_finish(p) == -1)
		fail();
	return argv;
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
	struct command *const cmd = &command;
	struct confined need = { 0 };
	struct sources *from = &cmd->chosen.sources;
	size_t i;
	int rc;

	program_descriptors();
	/* SIGUSR1 asks other programs of snap for their progress */
	signal(SIGUSR1, SIG_IGN);
	argv = patterns(cmd, options_take(&cmdline, argc, argv));
	cmd->report.terminal = isatty(STDOUT_FILENO) == 1;
	cmd->report.color = is_colored();
	sources_operands(from, argv, SOURCES_FILES);
	sources_capture(from);
	need.in = from->file.v;
	need.nin = from->file.n;
	program_files(); /* raise the limit on open files: CRIU images need a
			    file per process */
	if (confine(&need) == -1)
		fail();
	rc = 0;
	for (i = 0; i < need.nin && !(cmd->report.quiet && cmd->report.found);
	    i++)
		if (grep_file(cmd, need.in[i], need.nin > 1) == -1)
			rc = -1;
	if (!(cmd->report.quiet && cmd->report.found))
		sources_check(from);
	if (fflush(stdout) == EOF || ferror(stdout))
		err(2, "standard output");
	if (cmd->report.quiet && cmd->report.found)
		return 0;
	if (rc == -1 || program_lost())
		return 2;
	return cmd->report.found ? 0 : 1;
}
