/*
 * Read the members of an archive: each is a header followed by its bytes,
 * padded to a multiple of TAR_BLOCK; two blocks of zeros mark the end.
 *
 * The archive is not trusted: a member must end before the archive does, and
 * its name is only a key; no file is opened by it.
 */
#include "tar.h"
#include "bisect.h"
#include "vec.h"

enum {
	MAX_EXTRA = 1024 * KB,	/* maximum length of an extended header or long
				   name, in bytes */
	SPARSE_MORE = 482,	/* offset in a GNU header of a byte that is not
				   0 if a block with the positions of data
				   follows */
	SPARSE_STILL = 504	/* offset in a block with positions of a byte
				   that is not 0 if another such block
				   follows */
};

struct walk {			/* an archive being read */
	struct tar	*tar;	/* borrowed */
	uint64_t	 pos;	/* current offset in the stream */
	struct tarmember next;	/* owned; name, link, type and size of the
				   next member, if they precede its header */
	bool		 sized;	/* true if next.size is set */
	uint64_t	 taken;	/* memory that the table of members takes, in
				   bytes */
};

static int
block_read(struct walk *w, uint8_t *p)
{
	struct input *in = w->tar->in;

	if (in->size - w->pos < TAR_BLOCK)
		return errstr_set("the archive is truncated: it ends at "
		    "byte %ju",
		    (uintmax_t)in->size);
	if (input_pread(in, p, TAR_BLOCK, w->pos) == -1)
		return -1;
	w->pos += TAR_BLOCK;
	return 0;
}

/*
 * Read the contents of m, an extended header or long name, into w->next. They
 * describe the next member, and have m->size bytes.
 */
static int
extra_take(struct walk *w, const struct tarmember *m)
{
	uint8_t *p;
	size_t n;
	int rc;

	if (m->size > MAX_EXTRA || m->size > w->tar->in->size - w->pos)
		return errstr_set("extended header or long name of %ju bytes "
		    "is too long, or truncated", (uintmax_t)m->size);
	n = (size_t)m->size;
	if ((p = malloc(n + 1)) == NULL)
		return errstr_set("out of memory");
	rc = input_pread(w->tar->in, p, n, w->pos);
	if (rc == 0)
		rc = m->type == TAR_PAX ? tar_pax(p, n, &w->next, &w->sized) :
		    tar_text(m->type == TAR_LONGNAME ? &w->next.name :
		    &w->next.link, p, n);
	free(p);
	return rc;
}

/*
 * Normalize a path: remove leading, trailing and repeated slashes, and all "."
 * components.
 */
static void
name_tidy(char *name)
{
	char *to, *from;
	size_t n;

	for (to = from = name; *from != '\0'; from += n) {
		from += strspn(from, "/");
		n = strcspn(from, "/");
		if (n == 0 || (n == 1 && *from == '.'))
			continue;
		if (to != name)
			*to++ = '/';
		memmove(to, from, n);
		to += n;
	}
	*to = '\0';
}

/*
 * If an extended header or long name preceded the header of member m, give m
 * the name, link, size and type that it states. Normalize the name.
 */
static void
member_complete(struct walk *w, struct tarmember *m)
{
	if (w->next.name != NULL) {
		free(m->name);
		m->name = w->next.name;
		w->next.name = NULL;
	}
	if (w->next.link != NULL && m->type == TAR_LINK) {
		free(m->link);
		m->link = w->next.link;
		w->next.link = NULL;
	}
	if (w->sized)
		m->size = w->next.size;
	if (w->next.type == TAR_SPARSE)
		m->type = TAR_SPARSE;
	w->sized = false;
	tarmember_clear(&w->next);
	name_tidy(m->name);
}

/*
 * Skip the contents of member m in the archive.
 */
static int
bytes_skip(struct walk *w, const struct tarmember *m)
{
	const uint64_t left = w->tar->in->size - w->pos, n = tar_blocks(m);

	if (n > left / TAR_BLOCK)
		return errstr_set("%s: the archive is truncated: expected "
		    "%ju bytes, found %ju", m->name, (uintmax_t)m->size,
		    (uintmax_t)(left < m->size ? left : m->size));
	w->pos += n * TAR_BLOCK;
	return 0;
}

/*
 * Add member m to the table. Fail if the table gets too large: a small
 * compressed archive may expand to very many members.
 */
static int
member_keep(struct walk *w, struct tarmember *m)
{
	struct tar *t = w->tar;

	w->taken += sizeof *m + strlen(m->name) + 1 + (m->link == NULL ? 0 :
	    strlen(m->link) + 1);
	if (w->taken > input_room(t->in))
		return errstr_set("too many members, or names too long: "
		    "stopped after %zu members", t->n);
	if (VEC_ADD(t->v, t->n, *m) == -1)
		return -1;
	memset(m, 0, sizeof *m);
	return 0;
}

/*
 * Read the member whose header is in block. Build it in m, which must be empty,
 * and which the caller must clear.
 */
static int
member_take(struct walk *w, uint8_t *block, struct tarmember *m)
{
	if (tar_header(block, m) == -1)
		return -1;
	if (m->type == TAR_PAX || m->type == TAR_LONGNAME ||
	    m->type == TAR_LONGLINK)
		return extra_take(w, m) == -1 ? -1 : bytes_skip(w, m);
	if (m->type == TAR_GLOBAL)
		return bytes_skip(w, m);
	if (m->type == TAR_SPARSE && block[SPARSE_MORE] != 0)
		do
			if (block_read(w, block) == -1)
				return -1;
		while (block[SPARSE_STILL] != 0);
	member_complete(w, m);
	m->pos = w->pos;
	return bytes_skip(w, m) == -1 ? -1 : member_keep(w, m);
}

/*
 * Read all members up to the end of the archive.
 */
static int
members_take(struct walk *w)
{
	static const uint8_t zeros[TAR_BLOCK];
	uint8_t block[TAR_BLOCK];
	struct tarmember m;
	uint64_t at;
	int rc;

	for (;;) {
		at = w->pos;
		memset(&m, 0, sizeof m);
		rc = block_read(w, block);
		if (rc == 0 && memcmp(block, zeros, TAR_BLOCK) == 0)
			return 0;
		if (rc == 0)
			rc = member_take(w, block, &m);
		tarmember_clear(&m);
		if (rc == -1)
			return errstr_wrap("%s: byte %ju", w->tar->in->name,
			    (uintmax_t)at);
	}
}

/*
 * Sort by name; members with the same name by position.
 */
CMP_BY(member_cmp, struct tarmember, strcmp(x->name, y->name) != 0 ?
    strcmp(x->name, y->name) : ORDER(x->pos, y->pos))

/*
 * Read the table of members of an archive. The stream *in must be at the
 * beginning of the archive, and must outlive the table. A pipe, or a stream
 * compressed by another program, is first copied to a temporary file; *in then
 * reads that file. Return the table, or NULL with errstr set.
 */
struct tar *
tar_read(struct input *in)
{
	struct walk w = { 0 };
	struct tar *t;
	int rc;

	if (in->size == UINT64_MAX && (rc = input_spool(in)) != 1) {
		if (rc == 0)
			errstr_wrap("%s", in->name);
		return NULL;
	}
	if ((t = mem_new(1, sizeof *t)) == NULL)
		return NULL;
	t->in = in;
	w.tar = t;
	rc = members_take(&w);
	tarmember_clear(&w.next);
	if (rc == -1) {
		tar_free(t);
		return NULL;
	}
	SORT(t->v, t->n, member_cmp);
	return t;
}

/*
 * Return the member of t called name, or NULL. If there are several, return the
 * last one: it would overwrite the others when unpacked.
 */
const struct tarmember *
tar_find(const struct tar *t, const char *name)
{
	size_t i;

	i = BISECT_WHILE(k, t->n, strcmp(t->v[k].name, name) <= 0);
	return i > 0 && strcmp(t->v[i - 1].name, name) == 0 ? &t->v[i - 1] :
	    NULL;
}

/*
 * Return a stream called name that reads m, a member of t with type TAR_FILE.
 * Return NULL with errstr set on failure.
 */
struct input *
tar_input(const struct tar *t, const struct tarmember *m, const char *name)
{
	struct input *in;

	in = input_part(t->in, name, m->pos, m->size);
	if (in != NULL)
		in->st.st_mtime = (time_t)m->time;
	return in;
}

/*
 * Return the source of snapshot s that holds the contents of all members of t.
 * The contents of member m begin at offset t->in->origin + m->pos. The source
 * is made on the first call. Return NULL with errstr set on failure.
 */
struct source *
tar_source(struct tar *t, struct snap *s)
{
	if (t->src == NULL)
		t->src = input_source(s, t->in, KB);
	return t->src;
}

/*
 * Free table t, which may be NULL. Its stream stays open.
 */
void
tar_free(struct tar *t)
{
	size_t i;

	if (t == NULL)
		return;
	for (i = 0; i < t->n; i++)
		tarmember_clear(&t->v[i]);
	free(t->v);
	free(t);
}
