/*
 * Any bytes as one or two snap(6) streams that are drawn: the picture is XML,
 * with elements properly nested and texts without invalid characters.
 */
#include "fuzz_snap.h"
#include "../../cmd/procmap/procmap.h"
#include "model.h"
#include "space.h"

#ifdef LIBFUZZER
#include "fuzz_items.h"
#endif

enum { FIGURES = 8, ROWS = 300, DEEPEST = 16 };

/*
 * Return true if s begins with an entity that a picture may contain.
 */
static bool
is_entity(const char *s)
{
	return strncmp(s, "&amp;", 5) == 0 || strncmp(s, "&lt;", 4) == 0 ||
	    strncmp(s, "&gt;", 4) == 0 || strncmp(s, "&quot;", 6) == 0;
}

/*
 * Check the tag at s. Return its end. stack has the names of the open elements.
 */
static const char *
tag_check(const char *s, const char *stack[DEEPEST], size_t *depth)
{
	const char *end, *name;
	size_t n;

	MUST((end = strchr(s, '>')) != NULL);
	name = s + (s[1] == '/' ? 2 : 1);
	n = strcspn(name, " />\n");
	MUST(n > 0);
	if (s[1] == '/') {
		MUST(*depth > 0);
		--*depth;
		MUST(strncmp(stack[*depth], name, n) == 0 &&
		    strchr(" >\n", stack[*depth][n]) != NULL);
	} else if (end[-1] != '/') {
		MUST(*depth < DEEPEST);
		stack[(*depth)++] = name;
	}
	for (n = 0; s < end; s++)
		n += *s == '"';
	MUST(n % 2 == 0);
	return end;
}

static void
check_xml(const char *s, size_t len)
{
	const char *stack[DEEPEST], *end = s + len;
	size_t n, depth = 0;
	uint32_t c;

	MUST(strlen(s) == len);
	for (; s < end; s += n) {
		n = text_utf8(s, &c);
		MUST(n > 0);
		MUST(c == '\n' || (c >= ' ' && c != 0x7f && c != 0xfffe &&
		    c != 0xffff));
		MUST(*s != '&' || is_entity(s));
		if (*s == '<')
			n = (size_t)(tag_check(s, stack, &depth) - s) + 1;
	}
	MUST(depth == 0);
}

static void
check_picture(const struct album *a, const char *title)
{
	struct stat st;
	char *text;
	int fd, save;

	fd = memory_file("", 0);
	save = output_to(fd);
	MUST(picture_write(a, title, "-") == 0);
	output_back(save);
	MUST(fstat(fd, &st) == 0);
	MUST((text = calloc(1, (size_t)st.st_size + 1)) != NULL);
	MUST(pread(fd, text, (size_t)st.st_size, 0) == st.st_size);
	check_xml(text, (size_t)st.st_size);
	free(text);
	close(fd);
}

/*
 * Set sp to the address spaces of some processes. Return their number.
 */
static size_t
spaces_get(struct snap *s, struct space sp[FIGURES])
{
	size_t i, n;

	for (i = n = 0; i < s->nproc && n < FIGURES; i++)
		if (space_snap(&sp[n], s, s->proc[i]->pid) == 0 &&
		    sp[n].vma.n < ROWS)
			n++;
		else
			space_free(&sp[n]);
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct space sp[FIGURES];
	struct album a = { 0 };
	struct snap *s[2];
	char title[64];
	size_t i, k;
	int rc;

	snprintf(title, sizeof title, "%.*s", n < 40 ? (int)n : 40,
	    (const char *)data);
	read_two(data, n, s);
	if (s[0] != NULL && snap_kb(s[0]) < WRITEMOST / KB &&
	    (s[1] == NULL || snap_kb(s[1]) < WRITEMOST / KB)) {
		k = spaces_get(s[0], sp);
		rc = s[1] == NULL ? album_snap(&a, s[0], sp, k) :
		    album_compare(&a, s[1], s[0], sp, k);
		if (rc == 0)
			check_picture(&a, title);
		else
			MUST(*snap_errstr() != '\0');
		album_free(&a);
		for (i = 0; i < k; i++)
			space_free(&sp[i]);
	}
	snap_free(s[0]);
	snap_free(s[1]);
	return 0;
}
