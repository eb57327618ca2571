/*
 * Parts of a minidump: the directory of its streams, its strings, and the list
 * of modules, which are mapped ELF files.
 */
#include "minidump.h"
#include "vec.h"
#include "model.h"

struct module {			/* a mapped ELF file */
	uint64_t	 base;
	uint64_t	 size;
	size_t		 name;	/* offset of its name */
	size_t		 id;	/* offset of its build ID */
	size_t		 idlen;
};

void
add_zeros(struct buf *b, size_t n)
{
	uint8_t *p = buf_room(b, n);

	if (p != NULL) {
		memset(p, 0, n);
		b->len += n;
	}
}

/*
 * Add zeros up to a multiple of eight bytes.
 */
void
pad_add(struct buf *b)
{
	add_zeros(b, (8 - b->len % 8) % 8);
}

/*
 * Write v at offset at, as a number of n bytes.
 */
void
put_at(struct buf *b, size_t at, uint64_t v, size_t n)
{
	if (!b->failed)
		num_put(b->data + at, v, n);
}

/*
 * Add to the directory a stream of this type: the bytes from offset at to the
 * end of d->b.
 */
void
stream_add(struct dump *d, enum stream type, size_t at)
{
	const size_t e = HEADER + d->nstream++ * ENTRY;

	put_at(d->b, e, type, 4);
	put_at(d->b, e + 4, d->b->len - at, 4);
	put_at(d->b, e + 8, at, 4);
	pad_add(d->b);
}

/*
 * Add the name s as a MINIDUMP_STRING. Replace characters other than ASCII.
 */
void
string_add(struct buf *b, const char *s)
{
	num_add(b, 2 * strlen(s), 4);
	for (; *s != '\0'; s++)
		num_add(b, (uint8_t)*s < 0x80 ? (uint8_t)*s : '?', 2);
	num_add(b, 0, 2);
}

/*
 * If mapping i is the beginning of an ELF file, set *m to the file, add its
 * name and build ID, and return true.
 */
static bool
module_make(struct dump *d, struct image *mem, size_t i, struct module *m)
{
	enum { HEAD = 4096, ELF_ID = 0x4270454c };	/* "LEpB" */
	const struct vma *v = &d->v->v[i];
	uint8_t head[HEAD];
	struct buildid id;
	ssize_t n;

	if (*v->name != '/' || v->off != 0 ||
	    (n = image_readsome(mem, v->start, head, sizeof head)) <= 0 ||
	    buildid_parse(&id, head, (size_t)n) == -1)
		return false;
	m->base = v->start;
	/* up to the next mapping of the start of the file */
	for (; i < d->v->n && (&d->v->v[i] == v || d->v->v[i].off != 0) &&
	    strcmp(d->v->v[i].name, v->name) == 0; i++)
		m->size = d->v->v[i].end - m->base;
	m->name = d->b->len;
	string_add(d->b, v->name);
	m->id = d->b->len;
	num_add(d->b, ELF_ID, 4);
	buf_add(d->b, id.id, id.len);
	m->idlen = id.len == 0 ? 0 : d->b->len - m->id;
	return true;
}

/*
 * Add the module list. Readers take the first module for the program. Return 0,
 * or -1 with errstr set.
 */
int
modules_add(struct dump *d, struct image *mem)
{
	struct module m, *all = NULL;
	size_t i, at, n = 0;
	int rc = 0;

	for (i = 0; i < d->v->n && rc == 0; i++)
		if (mem != NULL && module_make(d, mem, i, &m))
			rc = VEC_ADD(all, n, m);
	pad_add(d->b);
	at = d->b->len;
	num_add(d->b, n, 4);
	for (i = 0; i < n; i++) {
		num_add(d->b, all[i].base, 8);
		num_add(d->b, all[i].size, 4);
		num_add(d->b, 0, 4 + 4);	/* CheckSum, TimeDateStamp */
		num_add(d->b, all[i].name, 4);
		add_zeros(d->b, 52);		/* VersionInfo */
		num_add(d->b, all[i].idlen, 4);
		num_add(d->b, all[i].idlen == 0 ? 0 : all[i].id, 4);
		add_zeros(d->b, 8 + 8 + 8);	/* MiscRecord, reserved */
	}
	stream_add(d, MODULE_LIST, at);
	free(all);
	return rc;
}
