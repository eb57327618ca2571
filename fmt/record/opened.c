/*
 * Open file descriptions, as a Linux record tells of them: which descriptor
 * leads to which in files, what is known of one in file/ID (snap(6)).  Any of
 * it may be a stranger's.
 */
#include "facts.h"

/*
 * Take lines of files until one tells of a descriptor, and set *o to that.
 * Return false if there is no more.
 */
bool
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
 * Set *id to the number of the open file description that descriptor fd of a
 * process leads to, as its record r tells.  Return false if it does not.
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

/*
 * Return what stands behind key, which ends in a blank, on the first line of
 * file f that begins with it, and set *len to its bytes.  Return NULL if no
 * line does.
 */
const char *
recfile_value(const struct recfile *f, const char *key, size_t *len)
{
	struct scan t, value;

	t = scan_begin(f->data, f->len);
	if (!scan_key(&t, key, &value))
		return NULL;
	*len = (size_t)(value.end - value.s);
	return value.s;
}
