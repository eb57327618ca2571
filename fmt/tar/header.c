/*
 * A header of an archive, of TAR_BLOCK bytes: tar(5) of libarchive, and pax(1)
 * of POSIX.
 *
 *	offset	bytes
 *	0	100	name, up to a NUL or the end of the field
 *	108	8	user ID, as the size below
 *	116	8	group ID, in the same form
 *	124	12	size in bytes, octal; or, if the high bit of the first
 *			byte is set, a big-endian number of 95 bits
 *	136	12	modification time, in the same form
 *	148	8	sum of all bytes, with these as blanks
 *	156	1	type
 *	157	100	target of a link
 *	257	8	"ustar", a NUL, "00"; or, of GNU, "ustar", two blanks,
 *			a NUL
 *	345	155	prefix of the name, without the "/" between; not in GNU
 */
#include "tar.h"
#include "num.h"
#include "vec.h"

enum {
	UID = 108, GID = 116, SIZE = 124, TIME = 136, SUM = 148, TYPE = 156,
	LINKNAME = 157, MAGIC = 257, PREFIX = 345,
	NAME_BYTES = 100, ID_BYTES = 8, NUMBER_BYTES = 12, SUM_DIGITS = 8,
	PREFIX_BYTES = 155
};

/*
 * Parse the number in the n bytes at p into *num. Return 0, or -1 without
 * setting errstr if the number is malformed or has more than 63 bits.
 */
static int
number_read(const uint8_t *p, size_t n, uint64_t *num)
{
	uint64_t v;
	size_t i;

	v = 0;
	if (p[0] & 0x80) {
		for (i = 0; i < n; i++) {
			if (v > INT64_MAX >> 8)
				return -1;
			v = v << 8 | (i == 0 ? p[i] & 0x7f : p[i]);
		}
		*num = v;
		return 0;
	}
	for (i = 0; i < n && p[i] == ' '; i++)
		continue;
	for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
		v = v << 3 | (uint64_t)(p[i] - '0');
	if (i < n && p[i] != ' ' && p[i] != '\0')
		return -1;
	*num = v;
	return 0;
}

/*
 * Store the user or group ID v in the ID_BYTES bytes at p.
 */
static void
id_write(uint8_t *p, uint32_t v)
{
	size_t i;

	if (v < 1 << 21) {
		snprintf((char *)p, ID_BYTES, "%07" PRIo32, v);
		return;
	}
	for (i = ID_BYTES; i-- > 1; v >>= 8)
		p[i] = (uint8_t)v;
	p[0] = 0x80;
}

static uint64_t
sum_make(const uint8_t *p)
{
	uint64_t sum;
	size_t i;

	for (i = 0, sum = 0; i < TAR_BLOCK; i++)
		sum += i >= SUM && i < SUM + SUM_DIGITS ? ' ' : p[i];
	return sum;
}

static bool
sum_isright(const uint8_t *p)
{
	uint64_t told;

	return number_read(p + SUM, SUM_DIGITS, &told) == 0 &&
	    told == sum_make(p);
}

/*
 * Return true if the n bytes at p begin with a ustar header (see pax(1)) that
 * has the right checksum.
 */
bool
tar_magic(const uint8_t *p, size_t n)
{
	return n >= TAR_BLOCK && memcmp(p + MAGIC, "ustar", 5) == 0 &&
	    sum_isright(p);
}

/*
 * Set *out to a copy of the text at p. The text ends at a NUL or after n bytes.
 * The previous *out is freed. Return 0, or -1 with errstr set.
 */
int
tar_text(char **out, const uint8_t *p, size_t n)
{
	char *s;

	if ((s = strndup((const char *)p, n)) == NULL)
		return errstr_set("out of memory");
	free(*out);
	*out = s;
	return 0;
}

static int
name_read(const uint8_t *p, char **name)
{
	const char *prefix = (const char *)p + PREFIX;

	/* GNU tar uses this field differently */
	if (p[MAGIC + 5] != '\0' || *prefix == '\0')
		return tar_text(name, p, NAME_BYTES);
	*name = str_printf("%.*s/%.*s", PREFIX_BYTES, prefix, NAME_BYTES,
	    (const char *)p);
	return *name == NULL ? -1 : 0;
}

/*
 * Parse the header of TAR_BLOCK bytes at p into m, which must be empty.
 * Everything in m but pos is set. Return 0, or -1 with errstr set.
 */
int
tar_header(const uint8_t *p, struct tarmember *m)
{
	uint64_t t;

	if (!tar_magic(p, TAR_BLOCK))
		return errstr_set("not a tar header");
	if (number_read(p + SIZE, NUMBER_BYTES, &m->size) == -1)
		return errstr_set("a member has a malformed size");
	/* a time before 1970 or a malformed one becomes 0 */
	m->time = number_read(p + TIME, NUMBER_BYTES, &t) == -1 ? 0 :
	    (int64_t)t;
	m->type = (char)p[TYPE];
	if (m->type == '\0' || m->type == '7')
		m->type = TAR_FILE;
	if (name_read(p, &m->name) == -1)
		return -1;
	return m->type == TAR_LINK ? tar_text(&m->link, p + LINKNAME,
	    NAME_BYTES) : 0;
}

/*
 * Return the size of the contents of m in blocks. Links, devices, directories
 * and FIFOs have none, whatever size the header gives.
 */
uint64_t
tar_blocks(const struct tarmember *m)
{
	return m->type >= '1' && m->type <= '6' ? 0 :
	    m->size / TAR_BLOCK + (m->size % TAR_BLOCK != 0);
}

/*
 * Change the user and group IDs of each member of the archive of n bytes at p:
 * owner replaces the IDs that it is given; arg is its first argument. GNU
 * tar(1) must have made the archive, without --sparse. Return 0, or -1 with
 * errstr set if the archive is malformed.
 */
int
tar_owners(uint8_t *p, size_t n, tarowner_fn *owner, const void *arg)
{
	struct tarmember m;
	uint64_t uid, gid, blocks;

	for (; n >= TAR_BLOCK && *p != '\0'; n -= TAR_BLOCK) {
		memset(&m, 0, sizeof m);
		if (tar_header(p, &m) == -1)
			return -1;
		blocks = tar_blocks(&m);
		tarmember_clear(&m);
		if (number_read(p + UID, ID_BYTES, &uid) == -1 ||
		    number_read(p + GID, ID_BYTES, &gid) == -1)
			return errstr_set("a member has a malformed owner");
		owner(arg, &uid, &gid);
		id_write(p + UID, (uint32_t)uid);
		id_write(p + GID, (uint32_t)gid);
		snprintf((char *)p + SUM, SUM_DIGITS, "%06" PRIo64,
		    sum_make(p));
		p += TAR_BLOCK;
		if (blocks > n / TAR_BLOCK - 1)
			return errstr_set("the archive is truncated");
		p += blocks * TAR_BLOCK;
		n -= (size_t)blocks * TAR_BLOCK;
	}
	return 0;
}

/*
 * Free the strings that member m owns, and clear it.
 */
void
tarmember_clear(struct tarmember *m)
{
	free(m->name);
	free(m->link);
	memset(m, 0, sizeof *m);
}
