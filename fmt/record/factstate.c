/*
 * Facts from texts of the Linux record (snap-linux(6)): descriptors,
 * environment, limits, credentials, signal actions. Records may come from an
 * untrusted snapshot.
 */
#include "bisect.h"
#include "facts.h"
#include "digits.h"
#include "io/io.h"
#include "model.h"
#include "vec.h"

struct opened {			/* a line of the record's file "files" */
	uint64_t	 fd;
	uint64_t	 id;	/* number of the open file description */
};

/*
 * Set *o to the next descriptor in files, the record's file "files", skipping
 * all other lines. Return false if there are no more.
 */
static bool
opened_next(struct scan *files, struct opened *o)
{
	struct scan line;

	while (scan_line(files, &line))
		if (scan_number(&line, 10, &o->fd) &&
		    scan_number(&line, 10, &o->id))
			return true;
	return false;
}

/*
 * Set *id to the number of the open file description of descriptor fd in record
 * r. Return false if r does not have fd.
 */
bool
linuxrec_opened(const struct linuxrec *r, uint64_t fd, uint64_t *id)
{
	struct recfile f;
	struct opened o;
	struct scan t;

	if (!linuxrec_find(r, "files", &f))
		return false;
	for (t = scan_begin(f.data, f.len); opened_next(&t, &o);)
		if (o.fd == fd) {
			*id = o.id;
			return true;
		}
	return false;
}

struct openings {
	struct opened	*v;	/* owned */
	size_t		 n;
};

CMP(opening_cmp, struct opened, fd)

/*
 * Set *l, which must be all zero, to the sorted descriptors in record r, with
 * their open file descriptions. The caller frees the array, even after a
 * failure.
 */
static int
openings_get(struct openings *l, const struct linuxrec *r)
{
	struct opened o;
	struct recfile f;
	struct scan t;

	if (!linuxrec_find(r, "files", &f))
		return 0;
	for (t = scan_begin(f.data, f.len); opened_next(&t, &o);)
		if (VEC_ADD(l->v, l->n, o) == -1)
			return -1;
	SORT(l->v, l->n, opening_cmp);
	return 0;
}

/*
 * Return a string with the type and the addresses of the socket open as
 * descriptor fd. The caller frees it. Return NULL if they are unknown.
 */
static char *
socket_text(const struct openings *l, const struct linuxrec *r, uint64_t fd)
{
	static const char *const keys[] = { "type ", "name ", "local ",
	    "remote " };
	struct opened key = { .fd = fd }, *o;
	struct recfile f;
	struct buf b = { 0 };
	const char *value;
	char name[40];
	size_t i, len;

	if ((o = FIND_BY(&key, l->v, l->n, opening_cmp)) == NULL)
		return NULL;
	snprintf(name, sizeof name, "file/%" PRIu64, o->id);
	if (!linuxrec_find(r, name, &f))
		return NULL;
	for (i = 0; i < sizeof keys / sizeof *keys; i++) {
		if ((value = recfile_value(&f, keys[i], &len)) == NULL)
			continue;
		buf_puts(&b, b.len == 0 ? "" : " ");
		buf_puts(&b, i == 0 ? "" : keys[i]);
		buf_add(&b, value, len);
	}
	return b.len == 0 ? NULL : buf_text(&b);
}

/*
 * Add the file position and the open flags of descriptor fd to l.
 */
static int
facts_fdinfo(struct factlist *l, const struct linuxrec *r, const char *fd,
    uint64_t num, uint64_t id)
{
	struct fdinfo info = { 0 };
	struct recfile f;
	char name[40], value[32];
	int n;

	snprintf(name, sizeof name, "fdinfo/%s", fd);
	if (!linuxrec_find(r, name, &f))
		return 0;
	fdinfo_parse(&info, f.data, f.len);
	if (!info.has_flags)
		return 0;
	n = snprintf(value, sizeof value, "%" PRId64, info.pos);
	if (factlist_add(l, SUBJECT_POSITION, num, fd, value, (size_t)n) == -1)
		return -1;
	l->v[l->n - 1].id = id;
	n = snprintf(value, sizeof value, "0%o", info.flags);
	if (factlist_add(l, SUBJECT_FLAGS, num, fd, value, (size_t)n) == -1)
		return -1;
	l->v[l->n - 1].id = id;
	return 0;
}

/*
 * Add a descriptor to l if the name of file f is fd/NUMBER.
 */
static int
facts_descriptor(struct factlist *l, const struct linuxrec *r,
    const struct openings *open, const struct recfile *f)
{
	char fd[24];
	uint64_t num;

	if (f->namelen <= 3 || f->namelen >= sizeof fd ||
	    memcmp(f->name, "fd/", 3) != 0 ||
	    !digits_number(f->name + 3, f->namelen - 3, 10, &num))
		return 0;
	memcpy(fd, f->name + 3, f->namelen - 3);
	fd[f->namelen - 3] = '\0';
	if (factlist_add(l, SUBJECT_DESCRIPTOR, num, fd, (const char *)f->data,
	    f->len) == -1)
		return -1;
	if (f->len > 7 && memcmp(f->data, "socket:", 7) == 0)
		l->v[l->n - 1].more = socket_text(open, r, num);
	return facts_fdinfo(l, r, fd, num, sums_of(f->data, f->len));
}

/*
 * Add to l the descriptors in record r. Return 0, or -1 with errstr set.
 */
int
facts_descriptors(struct factlist *l, const struct linuxrec *r)
{
	struct openings open = { 0 };
	struct recfile f;
	size_t i;
	int rc;

	/* a process may have no descriptors, and so no files fd/N */
	if (linuxrec_find(r, "files", &f) || linuxrec_find(r, "limits", &f))
		l->told |= 1U << SUBJECT_DESCRIPTOR;
	rc = openings_get(&open, r);
	for (i = 0; rc == 0 && i < r->n; i++) {
		linuxrec_get(r, i, &f);
		rc = facts_descriptor(l, r, &open, &f);
	}
	free(open.v);
	return rc;
}

/*
 * Add the initial environment of the process to l. It is in the file environ of
 * record r (see proc(5)). Return 0, or -1 with errstr set.
 */
int
facts_environ(struct factlist *l, const struct linuxrec *r)
{
	const char *s, *end, *nul, *is;
	struct recfile f;
	char *key;
	int rc;

	if (!linuxrec_find(r, "environ", &f))
		return 0;
	l->told |= 1U << SUBJECT_ENVIRONMENT;
	s = (const char *)f.data;
	for (end = s + f.len; s < end; s = nul + 1) {
		if ((nul = memchr(s, '\0', (size_t)(end - s))) == NULL)
			nul = end;
		if ((is = memchr(s, '=', (size_t)(nul - s))) == NULL)
			is = nul;
		if (nul == s)
			continue;
		if ((key = strndup(s, (size_t)(is - s))) == NULL)
			return errstr_set("out of memory");
		is += is < nul;
		rc = factlist_add(l, SUBJECT_ENVIRONMENT, 0, key, is,
		    (size_t)(nul - is));
		free(key);
		if (rc == -1)
			return -1;
	}
	return 0;
}

/*
 * Write limit v as text to s, which has room for size bytes.
 */
static void
limit_text(char *s, size_t size, uint64_t v)
{
	if (v == UINT64_MAX)
		strlcpy(s, "unlimited", size);
	else
		snprintf(s, size, "%" PRIu64, v);
}

/*
 * Add to l the soft and hard resource limits in record r. Return 0, or -1 with
 * errstr set.
 */
int
facts_limits(struct factlist *l, const struct linuxrec *r)
{
	char cur[24], max[24], value[64];
	struct recfile f;
	struct limit lim;
	struct scan t;
	uint64_t order;
	int n;

	if (!linuxrec_find(r, "limits", &f))
		return 0;
	t = scan_begin(f.data, f.len);
	for (order = 0; limits_next(&t, &lim); order++) {
		if (!lim.valid)
			continue;
		limit_text(cur, sizeof cur, lim.cur);
		limit_text(max, sizeof max, lim.max);
		n = snprintf(value, sizeof value, "%s of %s", cur, max);
		if (factlist_add(l, SUBJECT_LIMIT, order, lim.name, value,
		    (size_t)n) == -1)
			return -1;
	}
	return 0;
}

/*
 * Add the credentials and the masks of ignored and caught signals to l. They
 * are in the file status of record r. Return 0, or -1 with errstr set.
 */
int
facts_status(struct factlist *l, const struct linuxrec *r)
{
	static const struct {
		const char	*key;
		enum subject	 subject;
	} keys[] = { { "Uid:", SUBJECT_CREDENTIAL },
	    { "Gid:", SUBJECT_CREDENTIAL }, { "Groups:", SUBJECT_CREDENTIAL },
	    { "CapInh:", SUBJECT_CREDENTIAL },
	    { "CapPrm:", SUBJECT_CREDENTIAL },
	    { "CapEff:", SUBJECT_CREDENTIAL },
	    { "CapBnd:", SUBJECT_CREDENTIAL },
	    { "CapAmb:", SUBJECT_CREDENTIAL },
	    { "NoNewPrivs:", SUBJECT_CREDENTIAL },
	    { "Seccomp:", SUBJECT_CREDENTIAL },
	    { "Seccomp_filters:", SUBJECT_CREDENTIAL },
	    { "SigIgn:", SUBJECT_SIGNALS }, { "SigCgt:", SUBJECT_SIGNALS } };
	struct recfile f;
	struct scan t, value;
	char key[24], *s;
	size_t i, k;

	if (!linuxrec_find(r, "status", &f))
		return 0;
	for (i = 0; i < sizeof keys / sizeof *keys; i++) {
		t = scan_begin(f.data, f.len);
		if (!scan_key(&t, keys[i].key, &value))
			continue;
		scan_blanks(&value);
		strlcpy(key, keys[i].key, strlen(keys[i].key));
		if (factlist_add(l, keys[i].subject, i, key, value.s,
		    (size_t)(value.end - value.s)) == -1)
			return -1;
		for (s = l->v[l->n - 1].value, k = 0; s[k] != '\0'; k++)
			if (s[k] == '\t')
				s[k] = ' ';
	}
	return 0;
}

/*
 * Add to l the action for each signal, from the file sigaction of record r.
 * Return 0, or -1 with errstr set.
 */
int
facts_signals(struct factlist *l, const struct linuxrec *r)
{
	enum { HANDLER, FLAGS, RESTORER, MASK, WORDS };
	uint64_t num, v[WORDS];
	char key[32], value[100];
	struct recfile f;
	struct scan t, line;
	const char *name;
	int n, i;

	if (!linuxrec_find(r, "sigaction", &f))
		return 0;
	for (t = scan_begin(f.data, f.len); scan_line(&t, &line);) {
		if (!scan_number(&line, 10, &num) || num > 64)
			continue;
		for (i = 0; i < WORDS; i++)
			if (!scan_number(&line, 16, &v[i]))
				v[i] = 0;
		name = signal_name(num);
		snprintf(key, sizeof key, "%" PRIu64 "%s%s", num,
		    name == NULL ? "" : " SIG", name == NULL ? "" : name);
		if (v[HANDLER] == 0)
			n = snprintf(value, sizeof value, "default");
		else if (v[HANDLER] == 1)
			n = snprintf(value, sizeof value, "ignored");
		else
			n = snprintf(value, sizeof value, "handler %" PRIx64
			    " flags %" PRIx64 " mask %" PRIx64, v[HANDLER],
			    v[FLAGS], v[MASK]);
		if (factlist_add(l, SUBJECT_SIGNAL, num, key, value,
		    (size_t)n) == -1)
			return -1;
	}
	return 0;
}
