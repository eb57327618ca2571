/*
 * Print the unit, container and pod of a process.
 */
#include "snapls.h"

enum { ID_SHORT = 12, ID_LONG = 64 };	/* IDs of 64 digits are shortened to 12,
					   as docker(1) does */

static void
part_print(bool *any, const char *what, char *name, int width)
{
	if (*name == '\0')
		return;
	printf("%s %s %.*s", *any ? "," : "  in", what, width,
	    text_sanitize(name));
	*any = true;
}

/*
 * Print the unit, container and pod of process pid, as far as place has them.
 * If the process has a different ID in its own namespace, also print that ID.
 */
void
list_place(const struct place *place, uint64_t pid)
{
	struct place pl = *place;
	bool any;

	any = false;
	/* the unit's name includes the container's ID */
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
