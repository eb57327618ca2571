/*
 * Names of flags. The format file of a tracepoint shows how to print it, with a
 * table of its flags whose values are C expressions:
 *
 *	__print_flags(REC->gfp_flags, "|", {( unsigned long)((( gfp_t)
 *	    ((((1UL))) << (6))) | ...), "GFP_NOFS"}, ..., { 0, 0 } )
 *
 * They consist of numbers, casts and the operators ~ << & |, which are
 * evaluated here. Any other expression ends the table.
 */
#include "perf.h"

#include <ctype.h>

enum { DEPTH = 100 }; /* maximum nesting of parentheses and operators */

struct expr {			/* an expression that is being parsed */
	const char	*s;	/* rest of the expression; NULL: syntax error */
	int		 depth;
};

static uint64_t expr_binary(struct expr *, int);
static uint64_t expr_value(struct expr *);

static bool
expr_take(struct expr *e, const char *word)
{
	if (e->s == NULL)
		return false;
	e->s += strspn(e->s, " ");
	if (strncmp(e->s, word, strlen(word)) != 0)
		return false;
	e->s += strlen(word);
	return true;
}

/*
 * If a word follows in e, skip it as the rest of a cast, such as "gfp_t)", and
 * return true; set e->s to NULL if it is not one. Return false if no word
 * follows.
 */
static bool
expr_cast(struct expr *e)
{
	const char *s = e->s + strspn(e->s, " ");

	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_' || *s == ' ')
		s++;
	e->s = *s == ')' ? s + 1 : NULL;
	return true;
}

static uint64_t
expr_group(struct expr *e)
{
	uint64_t v;

	if (expr_cast(e))
		return expr_value(e);
	v = expr_binary(e, 0);
	if (!expr_take(e, ")"))
		e->s = NULL;
	return v;
}

static uint64_t
expr_number(struct expr *e)
{
	uint64_t v;
	char *end;

	if (e->s == NULL || !isdigit((unsigned char)*e->s)) {
		e->s = NULL;
		return 0;
	}
	v = strtoull(e->s, &end, 0);
	e->s = end + strspn(end, "uUlL");
	return v;
}

static uint64_t
expr_value(struct expr *e)
{
	uint64_t v;

	if (++e->depth > DEPTH)
		e->s = NULL;
	v = expr_take(e, "~") ? ~expr_value(e) :
	    expr_take(e, "(") ? expr_group(e) : expr_number(e);
	e->depth--;
	return v;
}

/*
 * Return the value of the expression at e, up to an operator of lower
 * precedence than op[level]. op[0] has the lowest precedence.
 */
static uint64_t
expr_binary(struct expr *e, int level)
{
	static const char *const op[] = { "|", "&", "<<" };
	uint64_t v, by;

	if (level == 3)
		return expr_value(e);
	for (v = expr_binary(e, level + 1); expr_take(e, op[level]);) {
		by = expr_binary(e, level + 1);
		v = level == 0 ? v | by : level == 1 ? v & by :
		    by < 64 ? v << by : 0;
	}
	return v;
}

/*
 * Set f to the names of the flags in text, a format file of tracefs. Make f
 * empty if there are none.
 */
void
tpflags_parse(struct tpflags *f, const char *text)
{
	struct expr e = { 0 };
	struct tpflag *p;
	size_t n;

	f->n = 0;
	if ((e.s = strstr(text, "__print_flags(")) == NULL)
		return;
	for (e.s = strchr(e.s, '{'); f->n < TPFLAGS && expr_take(&e, "{");
	    (void)expr_take(&e, ",")) {
		p = &f->v[f->n];
		p->value = expr_binary(&e, 0);
		if (!expr_take(&e, ",") || !expr_take(&e, "\""))
			return;
		n = strcspn(e.s, "\"");
		if (n >= sizeof p->name || e.s[n] == '\0')
			return;
		memcpy(p->name, e.s, n);
		p->name[n] = '\0';
		e.s += n + 1;
		if (!expr_take(&e, "}"))
			return;
		f->n += p->value != 0;
	}
}

/*
 * Write flags to s, which has room for size bytes, as "NAME|NAME|0xN". The
 * names are those of table f, in its order. f may be NULL. Return s.
 */
const char *
tpflags_string(const struct tpflags *f, uint64_t flags, char *s, size_t size)
{
	const struct tpflag *p;
	char rest[32];
	size_t i;

	*s = '\0';
	for (i = 0; f != NULL && i < f->n; i++) {
		p = &f->v[i];
		if ((flags & p->value) != p->value)
			continue;
		strlcat(s, *s == '\0' ? "" : "|", size);
		strlcat(s, p->name, size);
		flags &= ~p->value;
	}
	if (flags != 0 || *s == '\0') {
		snprintf(rest, sizeof rest, "%s0x%jx", *s == '\0' ? "" : "|",
		    (uintmax_t)flags);
		strlcat(s, rest, size);
	}
	return s;
}
