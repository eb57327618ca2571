/*
 * Remember which namespaces are already in the record, so that each is recorded
 * once in a snapshot.
 */
#include "spaces.h"
#include "vec.h"

struct spacerec {
	struct spacerec *next;	/* owned */
	char		*ns;	/* owned; text that identifies what is recorded,
				   as passed to space_recorded() */
};

/*
 * Mark a namespace as recorded by l. ns is the text of its link in /proc, or
 * other text that identifies what is recorded, such as a cgroup. Return true if
 * it was already recorded, or if memory runs out, else false.
 */
bool
space_recorded(struct live *l, const char *ns)
{
	struct spacerec *t;

	for (t = l->spacerecs; t != NULL; t = t->next)
		if (strcmp(t->ns, ns) == 0)
			return true;
	if ((t = mem_new(1, sizeof *t)) == NULL ||
	    (t->ns = str_dup(ns)) == NULL) {
		free(t);
		return true;
	}
	t->next = l->spacerecs;
	l->spacerecs = t;
	return false;
}

/*
 * Free the list of recorded namespaces of l.
 */
void
spaces_free(struct live *l)
{
	struct spacerec *t;

	while ((t = l->spacerecs) != NULL) {
		l->spacerecs = t->next;
		free(t->ns);
		free(t);
	}
}
