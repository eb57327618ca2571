/*
 * Where a process belongs, in a line for people.
 */
#include "snapls.h"

#include <inttypes.h>
#include <string.h>

enum { ID_SHORT = 12, ID_LONG = 64 };	/* as docker(1) shows them */

static void
part_print(bool *any, const char *what, char *name, int width)
{
	if (*name == '\0')
		return;
	printf("%s %s %.*s", *any ? "," : "  in", what, width,
	    text_harmless(name));
	*any = true;
}

/*
 * Print the unit, the container and the pod of process pid, which are in from,
 * and the number that it has there, if it is another; nothing, if nothing of
 * that is known.
 */
void
list_place(const struct place *from, uint64_t pid)
{
	struct place pl = *from;
	bool any;

	any = false;
	/* the unit of a container tells nothing more */
	if (*pl.container == '\0' || strstr(pl.unit, pl.container) == NULL)
		part_print(&any, "unit", pl.unit, PLACE_NAME);
	part_print(&any, "container", pl.container,
	    strlen(pl.container) == ID_LONG ? ID_SHORT : PLACE_NAME);
	part_print(&any, "pod", pl.pod, PLACE_NAME);
	if (pl.pid != pid)
		printf("%s process %" PRIu64, any ? "," : "  in its "
		    "namespace", pl.pid);
	if (any || pl.pid != pid)
		printf("\n");
}
