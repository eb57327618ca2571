/*
 * Edit the files of a Linux record.
 */
#include "record.h"
#include "bisect.h"

CMP_BY(at_cmp, size_t, ORDER(*x, *y))

/*
 * Append file f of a record to b, append a changed version of it, or drop it,
 * as the callback edit() decides.
 */
static int
edit_file(struct buf *b, const struct recfile *f, recedit_fn edit, void *arg)
{
	struct buf data = { 0 };
	char name[RECNAME];
	int rc;

	snprintf(name, sizeof name, "%.*s", (int)(f->namelen < sizeof name ?
	    f->namelen : 0), f->name);
	rc = *name == '\0' ? EDIT_KEEP : edit(arg, f, name, &data);
	if (rc == EDIT_CHANGE) {
		linuxrec_add(b, name, data.data, data.len);
		b->failed |= data.failed;
	} else if (rc == EDIT_KEEP) {
		linuxrec_head(b, f->name, f->namelen, f->len);
		buf_add(b, f->data, f->len);
	}
	buf_free(&data);
	return rc == -1 ? -1 : 0;
}

/*
 * Append a copy of the Linux record rec to b, with files changed or dropped.
 * edit(arg, ...) decides for each file whether to keep, change or drop it. The
 * caller must have parsed rec into r with linuxrec_open(), and afterwards can
 * only close r. Return 0, or -1 with errstr set.
 */
int
linuxrec_copy(struct buf *b, const struct file *rec, struct linuxrec *r,
    recedit_fn edit, void *arg)
{
	struct recfile f;
	const uint8_t *nl;
	size_t i;
	int rc;

	if ((nl = memchr(rec->data, '\n', rec->len)) == NULL)
		return errstr_set("proc: no first line");
	buf_add(b, rec->data, (size_t)(nl - rec->data) + 1);
	SORT(r->at, r->n, at_cmp);
	for (i = 0, rc = 0; i < r->n && rc == 0; i++) {
		linuxrec_get(r, i, &f);
		rc = edit_file(b, &f, edit, arg);
	}
	return rc;
}

/*
 * Change the Linux record of process p. edit(arg, ...) decides for each of its
 * files whether to keep, change or drop it. more[] has n further files. Append
 * those whose names the record does not have yet. If p has no proc record, make
 * one for machine cputype. Return 1; 0 with nothing done if the proc record is
 * not a Linux record; or -1 with errstr set.
 */
int
linuxrec_edit(struct proc *p, const char *cputype, recedit_fn edit, void *arg,
    const struct file *more, size_t n)
{
	struct buf b = { 0 }, tail = { 0 };
	struct linuxrec r;
	struct recfile f;
	struct file *rec;
	char word[32];
	size_t i;
	int rc;

	memset(&r, 0, sizeof r);
	rc = 0;
	if ((rec = proc_file(p, "proc")) == NULL)
		linuxrec_begin(&b, cputype);
	else if (*linuxrec_cputype(rec, word, sizeof word) == '\0')
		return 0;
	else
		rc = linuxrec_open(&r, rec);
	for (i = 0; i < n && rc == 0; i++)
		if (!linuxrec_find(&r, more[i].name, &f))
			linuxrec_add(&tail, more[i].name, more[i].data,
			    more[i].len);
	if (rc == 0 && rec != NULL)
		rc = linuxrec_copy(&b, rec, &r, edit, arg);
	linuxrec_close(&r);
	buf_add(&b, tail.data, tail.len);
	b.failed |= tail.failed;
	buf_free(&tail);
	if (rc == -1 || buf_check(&b) == -1) {
		buf_free(&b);
		return -1;
	}
	buf_trim(&b);
	return proc_setfile(p, "proc", b.data, b.len) == -1 ? -1 : 1;
}
