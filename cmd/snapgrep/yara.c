/*
 * Match YARA rules. A rule applies to a process as a whole, so the memory of
 * each process is passed to libyara block by block, except for long runs of
 * zeros.
 */
#include "snapgrep.h"
#include "bisect.h"

#ifdef HAVE_yara

#include <yara.h>

enum {
	BLOCK = 64 * KB * KB,	/* maximum size of a block, in bytes */
	ZEROS = 1024 * KB /* runs of at least this many zeros are skipped */
};

struct scanning {		/* a process being scanned */
	struct report	*r;	/* borrowed */
	struct search	*s;
	const struct plan *p;
	size_t		 owner;
	const struct stretch *st; /* stretch that contains the current block */
	size_t		 part;	/* index of the current part in st */
	uint64_t	 off;	/* offset, in the stretch, of the end of the
				   current block */
	YR_MEMORY_BLOCK	 block;
	YR_MEMORY_BLOCK_ITERATOR it;
	uint64_t	 at;	/* offset of the block in its stretch */
	const uint8_t	*have;	/* contents of the block, in "buf"; NULL: not
				   read */
	uint8_t		*buf;	/* owned; buffer of BLOCK bytes */
	uint64_t	 n;	/* number of matches */
};

/*
 * Return the bytes of block b. This is libyara's fetch_data callback.
 */
static const uint8_t *
block_data(YR_MEMORY_BLOCK *b)
{
	struct scanning *sc = b->context;

	if (sc->have == NULL)
		search_read(sc->s, sc->st, sc->at, sc->buf, b->size);
	sc->have = sc->buf;
	return sc->have;
}

static bool
is_left_out(const struct part *pt)
{
	return pt->same == PART_ZERO && pt->len >= ZEROS;
}

/*
 * Return the next block, or NULL after the last. This is libyara's next
 * callback.
 */
static YR_MEMORY_BLOCK *
block_next(YR_MEMORY_BLOCK_ITERATOR *it)
{
	struct scanning *sc = it->context;
	const struct plan *p = sc->p;
	const struct stretch *end = p->stretch + p->nstretch;
	const struct part *pt;
	uint64_t to;

	it->last_error = ERROR_SUCCESS;
	for (;;) {
		if (sc->st == end || sc->st->owner != sc->owner)
			return NULL;
		pt = &p->part[sc->st->first + sc->part];
		if (sc->part == sc->st->n) {
			sc->st++;
			sc->part = 0;
			sc->off = 0;
		} else if (is_left_out(pt) || sc->off >= pt->from + pt->len) {
			sc->off = pt->from + pt->len;
			sc->part++;
		} else
			break;
	}
	to = sc->off;
	for (; sc->part < sc->st->n && to - sc->off < BLOCK; sc->part++) {
		pt = &p->part[sc->st->first + sc->part];
		if (is_left_out(pt))
			break;
		to = pt->from + pt->len;
		if (to - sc->off > BLOCK) {
			to = sc->off + BLOCK;
			break;
		}
	}
	sc->at = sc->off;
	sc->block.base = sc->st->addr + sc->off;
	sc->block.size = (size_t)(to - sc->off);
	sc->off = to;
	sc->have = NULL;
	return &sc->block;
}

static YR_MEMORY_BLOCK *
block_first(YR_MEMORY_BLOCK_ITERATOR *it)
{
	struct scanning *sc = it->context;
	const struct plan *p = sc->p;

	sc->st = p->stretch;
	while (sc->st < p->stretch + p->nstretch &&
	    sc->st->owner != sc->owner)
		sc->st++;
	sc->part = 0;
	sc->off = 0;
	return block_next(it);
}

/*
 * Report that a string of a rule was found at address addr.
 */
static void
string_report(struct scanning *sc, uint64_t addr, uint64_t len)
{
	const struct plan *p = sc->p;
	const struct stretch *st;

	st = &p->stretch[BISECT_WHILE(i, p->nstretch,
	    p->stretch[i].owner < sc->owner ||
	    (p->stretch[i].owner == sc->owner &&
	    p->stretch[i].addr <= addr)) - 1];
	addr -= st->addr;
	if (len > st->len - addr)
		len = st->len - addr;
	report_one(sc->r, sc->s, p, st, addr, addr + len, NULL);
}

/*
 * Report a rule that the process matches, and the strings of the rule that were
 * found. The alignment check is off here, because libyara does not align struct
 * YR_MATCH.
 */
static void __attribute__((no_sanitize("alignment")))
rule_report(struct scanning *sc, YR_SCAN_CONTEXT *context, YR_RULE *rule)
{
	YR_STRING *string;
	YR_MATCH *m;
	char label[300];
	bool any;

	any = false;
	yr_rule_strings_foreach(rule, string) {
		snprintf(label, sizeof label, "%s %s: ", rule->identifier,
		    string->identifier);
		sc->r->label = label;
		yr_string_matches_foreach(context, string, m) {
			any = true;
			if (sc->n >= sc->r->most)
				continue;
			sc->n++;
			if (!sc->r->count)
				string_report(sc, (uint64_t)(m->base +
				    m->offset), (uint64_t)m->match_length);
		}
	}
	sc->r->label = NULL;
	if (any)
		return;
	sc->n++;
	if (!sc->r->count)
		printf("%" PRIu64 ": %s\n",
		    sc->p->owner[sc->owner].proc->pid, rule->identifier);
}

/*
 * Handle a libyara message about a scan.
 */
static int
scanned(YR_SCAN_CONTEXT *context, int message, void *data, void *arg)
{
	struct scanning *sc = arg;

	if (message == CALLBACK_MSG_TOO_MANY_MATCHES) {
		program_lose(NULL,
		    "a string of a YARA rule has too many matches");
		return CALLBACK_CONTINUE;
	}
	if (message != CALLBACK_MSG_RULE_MATCHING)
		return CALLBACK_CONTINUE;
	sc->r->found = true;
	if (sc->r->quiet || sc->r->list) {
		sc->n = 1;
		return CALLBACK_ABORT;
	}
	rule_report(sc, context, data);
	return CALLBACK_CONTINUE;
}

/*
 * Set errstr to an error in the rules, replacing any earlier one. This is the
 * YARA compiler's callback.
 */
static void
complain(int level, const char *path, int line, const YR_RULE *rule,
    const char *why, void *arg)
{
	(void)rule;
	(void)arg;
	if (level == YARA_ERROR_LEVEL_ERROR)
		(void)errstr_set("%s: line %d: %s", path, line, why);
}

/*
 * Make p match the YARA rules in the file at path. Return 0, or -1 with errstr
 * set.
 */
int
yara_open(struct pattern *p, const char *path)
{
	YR_COMPILER *c;
	YR_RULES *rules;
	FILE *f;
	int rc;

	if ((f = fopen(path, "re")) == NULL)
		return errstr_sys("%s", path);
	(void)errstr_set("%s: libyara failed", path);
	rc = -1;
	if (yr_initialize() == ERROR_SUCCESS &&
	    yr_compiler_create(&c) == ERROR_SUCCESS) {
		yr_compiler_set_callback(c, complain, NULL);
		if (yr_compiler_add_file(c, f, NULL, path) == 0 &&
		    yr_compiler_get_rules(c, &rules) == ERROR_SUCCESS) {
			p->kind = PATTERN_YARA;
			p->rules = rules;
			rc = 0;
		}
		yr_compiler_destroy(c);
	}
	fclose(f);
	return rc;
}

/*
 * Report, as r says, the processes of plan p that match the rules. Read their
 * memory with s. Return 0, or -1 with errstr set.
 */
int
yara_report(struct report *r, struct search *s, const struct plan *p)
{
	struct scanning sc = { .r = r, .s = s, .p = p };
	YR_SCANNER *scanner;
	int rc;

	sc.buf = must(malloc(BLOCK));
	if (yr_scanner_create(p->pattern->rules, &scanner) != ERROR_SUCCESS)
		program_nomem();
	yr_scanner_set_callback(scanner, scanned, &sc);
	sc.block.context = &sc;
	sc.block.fetch_data = block_data;
	for (rc = 0; sc.owner < p->nowner && rc == 0 &&
	    !(r->quiet && r->found); sc.owner++) {
		sc.n = 0;
		sc.it = (YR_MEMORY_BLOCK_ITERATOR){ .context = &sc,
		    .first = block_first, .next = block_next };
		rc = yr_scanner_scan_mem_blocks(scanner, &sc.it);
		if (rc != ERROR_SUCCESS)
			rc = errstr_set("process %" PRIu64 ": libyara failed "
			    "with error %d", p->owner[sc.owner].proc->pid, rc);
		report_process(r, &p->owner[sc.owner], sc.n);
	}
	yr_scanner_destroy(scanner);
	free(sc.buf);
	return rc;
}

#else

int
yara_open(struct pattern *p, const char *path)
{
	(void)p;
	(void)path;
	return errstr_set("-Y is not supported: built without libyara");
}

int
yara_report(struct report *r, struct search *s, const struct plan *p)
{
	(void)r;
	(void)s;
	(void)p;
	return errstr_set("-Y is not supported: built without libyara");
}

#endif
