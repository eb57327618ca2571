/*
 * Any bytes as a snap(6) stream whose address spaces are printed in every style
 * of procmap(1): mappings ascend, and names contain no terminal control
 * characters.
 */
#include "common/common.h"
#include "fuzz_snap.h"
#include "../../cmd/procmap/procmap.h"
#include "space.h"

#ifdef LIBFUZZER
#include "fuzz_items.h"
#endif

enum { MAPPINGS = 300 };	/* of a process that are printed */

/*
 * Return true if s has no terminal control characters.
 */
static bool
is_harmless(const char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f ||
		    ((unsigned char)*s == 0xc2 &&
		    (unsigned char)s[1] >= 0x80 && (unsigned char)s[1] < 0xa0))
			return false;
	return true;
}

static void
check_space(const struct space *sp)
{
	static const unsigned int style[] = { STYLE_MAP, STYLE_LINUX,
	    STYLE_DDB, STYLE_SOLARIS, STYLE_ALL, STYLE_RESIDENT,
	    STYLE_RESERVED };
	struct options o = { .debug = DEBUG_ALL, .amap = true };
	struct slots sum = { 0, 0 };
	char name[300];
	size_t i;

	MUST(strlen(sp->name) < sizeof sp->name && is_harmless(sp->name));
	for (i = 0; i < sp->vma.n; i++) {
		MUST(sp->vma.v[i].start < sp->vma.v[i].end);
		MUST(i == 0 || sp->vma.v[i - 1].end <= sp->vma.v[i].start);
		name_make(name, sizeof name, &sp->vma.v[i]);
		MUST(strlen(name) < sizeof name && is_harmless(name));
	}
	if (sp->vma.n > MAPPINGS)
		return;
	for (i = 0; i < sizeof style / sizeof *style; i++) {
		o.styles = style[i];
		space_print(sp, &o, &sum);
		o.verbose = !o.verbose;
		o.debug = 0;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static int nothing = -1;
	struct space sp;
	struct snap *s;
	size_t i;
	int save;

	if (nothing == -1)
		nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if ((s = read_fd(memory_file(data, n), NULL)) == NULL)
		return 0;
	save = output_to(nothing);
	for (i = 0; i < s->nproc && i < 20; i++) {
		if (space_snap(&sp, s, s->proc[i]->pid) == 0)
			check_space(&sp);
		else
			MUST(*snap_errstr() != '\0');
		space_free(&sp);
	}
	output_back(save);
	snap_free(s);
	return 0;
}
