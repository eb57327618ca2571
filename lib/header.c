/*
 * The first line of a snapshot: snap(6).
 *
 *	process snapshot TIME USER@HOST CPUTYPE KERNELTIME "TERMINAL"
 */
#include "library.h"

/*
 * Parse line, the first line of a snapshot (or NULL), into *h. *h then points
 * into line, which must outlive it.
 */
void
header_parse(struct header *h, const char *line)
{
	static const char magic[] = "process snapshot ";

	memset(h, 0, sizeof *h);
	h->rest = line == NULL ? "" : line;
	if (line == NULL)
		return;
	if (strncmp(line, magic, sizeof magic - 1) == 0)
		h->rest += sizeof magic - 1;
	h->timed = sscanf(line, "process snapshot %llu", &h->time) == 1;
	(void)sscanf(line, "%*s %*s %*s %*s %15s", h->cputype);
}
