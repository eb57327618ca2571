/*
 * Exclude values of environment variables: replace each of their bytes by x, in
 * the file environ of the Linux record and in the memory from which the kernel
 * has read it: proc_pid_environ(5).
 */
#include "exclude.h"
#include "bisect.h"

#include <fnmatch.h>

enum { MAX_NAME = 200 };	/* maximum length, in bytes, of a name in the
				   file "excluded" */

struct environment {
	uint64_t	 start;	/* address of the environment; 0: unknown */
	const uint8_t	*old;	/* borrowed; the record's file "environ", or
				   NULL */
	uint8_t		*new;	/* owned; copy of "old" with some values
				   overwritten */
	size_t		 len;
	bool		 empty;	/* true if the file "environ" is empty */
	struct buf	 note;	/* lines for the record's file "excluded" */
};

/*
 * Overwrite the value in s, the n-byte string NAME=VALUE, if k excludes it.
 */
static void
string_exclude(const struct exclude *k, struct environment *e, uint8_t *s,
    size_t n)
{
	char name[4096];
	uint8_t *value;
	size_t len;

	if ((value = memchr(s, '=', n)) == NULL)
		return;
	len = (size_t)(value - s);
	snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len :
	    sizeof name - 1), (const char *)s);
	if (PSEEK(k->env, k->nenv, fnmatch(x, name, FNM_CASEFOLD) == 0) ==
	    NULL)
		return;
	memset(value + 1, 'x', n - len - 1);
	if (len > MAX_NAME)
		name[MAX_NAME] = '\0';
	buf_printf(&e->note, "env %s\n", text_sanitize(name));
}

/*
 * Overwrite the values of excluded environment variables in the n bytes at buf,
 * which were read from address addr. Change only those bytes that are in the
 * environment. This is a callback for image_rewrite().
 */
static void
memory_edit(void *arg, uint64_t addr, uint8_t *buf, size_t n)
{
	const struct environment *e = arg;
	size_t i, at;

	for (i = addr < e->start ? (size_t)(e->start - addr) : 0; i < n; i++) {
		at = (size_t)(addr + i - e->start);
		if (at >= e->len)
			return;
		if (e->new[at] != e->old[at])
			buf[i] = e->new[at];
	}
}

/*
 * Replace the contents of "environ" and extend "excluded" in a record. This is
 * a recedit_fn; its arg is a struct environment.
 */
static int
record_edit(void *arg, const struct recfile *f, char *name, struct buf *data)
{
	const struct environment *e = arg;

	if (strcmp(name, "environ") == 0 && e->new != NULL)
		buf_add(data, e->new, e->len);
	else if (strcmp(name, "excluded") == 0) {
		buf_add(data, f->data, f->len);
		buf_add(data, e->note.data, e->note.len);
	} else
		return EDIT_KEEP;
	return EDIT_CHANGE;
}

/*
 * Copy the environment in record r to e, with the values that x excludes
 * overwritten.
 */
static int
environ_make(const struct exclude *x, struct environment *e,
    const struct linuxrec *r)
{
	struct procstat st;
	struct recfile f;
	size_t i, n;

	if (x->nenv == 0 || !linuxrec_find(r, "environ", &f))
		return 0;
	e->empty = f.len == 0;
	if (e->empty)
		return 0;
	if ((e->new = mem_dup(f.data, f.len)) == NULL)
		return -1;
	e->old = f.data;
	e->len = f.len;
	for (i = 0; i < f.len; i += n + 1) {
		n = strnlen((const char *)e->new + i, f.len - i);
		string_exclude(x, e, e->new + i, n);
	}
	if (linuxrec_find(r, "stat", &f) &&
	    stat_parse(&st, f.data, f.len) >= STAT_ENVSTART)
		e->start = st.v[STAT_ENVSTART];
	return 0;
}

/*
 * Exclude from process p of s the values of the environment variables that x
 * names. List in the record of p everything that x excludes. Return 1; 0 if the
 * address of the environment in memory is unknown; or -1 with errstr set.
 */
int
environ_exclude(struct exclude *x, struct snap *s, struct proc *p)
{
	static char excluded[] = "excluded";
	struct environment e = { 0 };
	struct linuxrec r;
	struct file more;
	int rc;

	if (proc_file(p, "proc") == NULL)
		return x->nenv == 0;
	buf_add(&e.note, x->asked.data, x->asked.len);
	if ((rc = linuxrec_open(&r, proc_file(p, "proc"))) == 0)
		rc = environ_make(x, &e, &r);
	if (rc == 0 && e.start != 0 && memcmp(e.old, e.new, e.len) != 0)
		rc = image_rewrite(s, p->mem, e.start, e.len, memory_edit, &e);
	if (rc == 0 && (rc = buf_check(&e.note)) == 0) {
		more = (struct file){ excluded, e.note.data, e.note.len };
		rc = linuxrec_edit(p, "", record_edit, &e, &more, 1);
	}
	linuxrec_close(&r);
	buf_free(&e.note);
	rc = rc == -1 ? -1 : x->nenv == 0 || e.start != 0 || e.empty;
	free(e.new);
	return rc;
}
