/*
 * Any bytes as an archive in which each header gets its right checksum: it is
 * refused, or all its members are valid. Images in it can be read.
 */
#include "fuzz_snap.h"
#include "tar/tar.h"

enum { SUM = 148, SUM_DIGITS = 8, MAGIC = 257 };

/*
 * Store the right checksum in what may be a header.
 */
static void
sum_again(uint8_t *p)
{
	char text[SUM_DIGITS];
	unsigned int sum;
	size_t i;

	memset(p + SUM, ' ', SUM_DIGITS);
	for (i = 0, sum = 0; i < TAR_BLOCK; i++)
		sum += p[i];
	snprintf(text, sizeof text, "%06o", sum);
	memcpy(p + SUM, text, SUM_DIGITS - 1);
}

static void
check_table(const uint8_t *data, size_t n)
{
	const struct tarmember *m;
	struct input *in, *part;
	struct tar *t;
	size_t i;
	int fd;

	fd = memory_file(data, n);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	MUST((in = input_fd("fuzz", fd)) != NULL);
	if ((t = tar_read(in)) == NULL)
		MUST(*snap_errstr() != '\0');
	for (i = 0; t != NULL && i < t->n; i++) {
		MUST((m = tar_find(t, t->v[i].name)) != NULL);
		MUST(m >= &t->v[i] && strcmp(m->name, t->v[i].name) == 0);
		if (m->type != TAR_FILE)
			continue;
		MUST((part = tar_input(t, m, "part")) != NULL);
		MUST(m->size > n || input_fill(part, (size_t)m->size) ==
		    m->size);
		MUST(input_end(part) == 0);
		input_close(part);
	}
	tar_free(t);
	input_close(in);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct snap *s;
	uint8_t *copy;
	size_t i;

	if (n < TAR_BLOCK)
		return 0;
	MUST((copy = malloc(n)) != NULL);
	memcpy(copy, data, n);
	for (i = 0; i + TAR_BLOCK <= n; i += TAR_BLOCK)
		if (memcmp(copy + i + MAGIC, "ustar", 5) == 0)
			sum_again(copy + i);
	check_table(copy, n);
	if (tar_magic(copy, n) &&
	    (s = read_fd(memory_file(copy, n), NULL)) != NULL) {
		check_snap(s);
		snap_free(s);
	}
	free(copy);
	return 0;
}
