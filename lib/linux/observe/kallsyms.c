/*
 * Symbols of the kernel: proc_kallsyms(5).
 */
#include "bisect.h"
#include "full.h"
#include "trace.h"
#include "vec.h"

#include <fcntl.h>

/*
 * Parse text, which has lines "ADDRESS TYPE NAME [MODULE]", into k. text is
 * taken over and modified. Symbols at address 0 are left out: that is how the
 * kernel hides addresses from unprivileged users.
 */
static int
ksyms_parse(struct ksyms *k, char *text)
{
	uint64_t addr;
	char *s, *end, *next;

	k->text = text;
	for (s = text; *s != '\0'; s = next) {
		next = s + strcspn(s, "\n");
		if (*next != '\0')
			*next++ = '\0';
		addr = strtoull(s, &end, 16);
		if (addr == 0 || *end != ' ' || strlen(end) < 4)
			continue;
		end[3 + strcspn(end + 3, "\t ")] = '\0';
		if (VEC_ADD(k->sym, k->n, (struct ksym){ addr, end + 3 }) == -1)
			return -1;
	}
	return 0;
}

CMP(ksym_cmp, struct ksym, addr)

/*
 * Load symbols into k from the file at path, such as /proc/kallsyms. The caller
 * frees k, even after a failure. Return 0, or -1 with errstr set.
 */
int
ksyms_load(struct ksyms *k, const char *path)
{
	struct buf b = { 0 };
	char *text;

	if (full_readfile(AT_FDCWD, path, &b) == -1) {
		buf_free(&b);
		return errstr_sys("%s", path);
	}
	if ((text = buf_text(&b)) == NULL || ksyms_parse(k, text) == -1)
		return -1;
	SORT(k->sym, k->n, ksym_cmp);
	return 0;
}

/*
 * Return the last symbol of k at or before address addr, or NULL if there is
 * none.
 */
const struct ksym *
ksyms_find(const struct ksyms *k, uint64_t addr)
{
	size_t i;

	i = BISECT(k->sym, k->n, addr, addr);
	return i == 0 ? NULL : &k->sym[i - 1];
}

/*
 * Free the symbols in k.
 */
void
ksyms_free(struct ksyms *k)
{
	free(k->text);
	free(k->sym);
	memset(k, 0, sizeof *k);
}
