/*
 * Select the processes and mappings to search, and determine the size and byte
 * order of a process's pointers.
 */
#include "bisect.h"
#include "machine.h"
#include "snapgrep.h"

#include <fnmatch.h>

/*
 * Parse the hexadecimal address at *s, with or without 0x, into *v, and advance
 * *s past it. Return false if there is none.
 */
static bool
take_address(const char **s, uint64_t *v)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	char *end;

	if (strncmp(*s, "0x", 2) == 0 || strncmp(*s, "0X", 2) == 0)
		*s += 2;
	if (strspn(*s, digits) == 0 || strspn(*s, digits) > 16)
		return false;
	*v = strtoull(*s, &end, 16);
	*s = end;
	return true;
}

/*
 * Parse s, an address or a range START-END, into *first and *last, both
 * inclusive. The numbers are hexadecimal, as in /proc/PID/maps. For a range,
 * *last is END - 1. Return 0, or -1 with errstr set.
 */
int
chosen_range(const char *s, uint64_t *first, uint64_t *last)
{
	const char *t = s;

	if (!take_address(&t, first))
		return errstr_set("%s: not an address", s);
	*last = *first;
	if (*t == '\0')
		return 0;
	if (*t++ != '-' || !take_address(&t, last) || *t != '\0' ||
	    *last <= *first)
		return errstr_set("%s: not a range of addresses", s);
	--*last;
	return 0;
}

/*
 * Make c select mappings by s, which is a class, a name or permissions as in
 * /proc/PID/maps. '?' may stand for any letter of permissions. c borrows s.
 */
void
chosen_mapping(struct chosen *c, char *s)
{
	const bool perms = strlen(s) == 4 && strchr("r-?", s[0]) != NULL &&
	    strchr("w-?", s[1]) != NULL && strchr("x-?", s[2]) != NULL &&
	    strchr("ps?", s[3]) != NULL;

	words_add(perms ? &c->perm : &c->name, s);
}

static bool
perm_is(const struct vma *v, const char *want)
{
	char perm[5];

	vma_perms(v, perm);
	return fnmatch(want, perm, 0) == 0;
}

/*
 * Return true if pattern selects mapping v. A pattern either names a class of
 * mappings or is matched (fnmatch(3)) against the name of v and the last
 * component of that name.
 */
static bool
name_is(const struct vma *v, const char *pattern)
{
	const char *name = v->name;
	size_t i;

	if (strcmp(pattern, "anon") == 0)
		pattern = class_word(CLASS_ANONYMOUS);
	for (i = 0; i < CLASS_COUNT; i++)
		if (strcmp(pattern, class_word((enum class)i)) == 0)
			return class_of(v) == (enum class)i;
	return fnmatch(pattern, name, 0) == 0 || (*name == '/' &&
	    fnmatch(pattern, path_base(name), 0) == 0) ||
	    strcmp(pattern, name) == 0;
}

/*
 * Return true if c selects mapping v or a part of it.
 */
bool
chosen_vma(const struct chosen *c, const struct vma *v)
{
	return (c->name.n == 0 ||
	    SEEK(c->name.v, c->name.n, name_is(v, *x)) != NULL) &&
	    (c->perm.n == 0 ||
	    SEEK(c->perm.v, c->perm.n, perm_is(v, *x)) != NULL) &&
	    v->start <= c->last && v->end > c->first;
}

/*
 * Set *word to the size in bytes of pointers in process p of s, and *big to
 * true if they are big-endian.
 */
void
pointer_of(const struct snap *s, struct proc *p, size_t *word, bool *big)
{
	const struct file *rec = proc_file(p, "proc");
	const struct machine *m;
	struct header h = { 0 };
	struct recfile f;
	char name[32];

	(void)linuxrec_cputype(rec, name, sizeof name);
	if (*name == '\0' && s->header != NULL) {
		header_parse(&h, s->header);
		strlcpy(name, h.cputype, sizeof name);
	}
	m = machine_named(name);
	*word = m->word;
	*big = m->big;
	/* a 64-bit machine may have 32-bit processes */
	if (m->narrow != NULL && linuxrec_find(proc_record(p), "auxv", &f) &&
	    auxv_word(m, f.data, f.len) == 4)
		*word = 4;
}
