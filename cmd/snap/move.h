/*
 * Processes that are to go on elsewhere, and end here: move.c
 */
#ifndef MOVE_H
#define MOVE_H

#include "snap.h"

struct move {
	bool	 kill;		/* they end when the snapshot is written */
	bool	 dry;		/* only tell what hinders that */
	bool	 force;		/* in spite of what hinders */
};

int		 move_ready(const struct move *m, const struct output *out);
int		 move_check(const struct move *m, struct live *l,
		    struct snap *s, void (*warn)(void *, const char *));
int		 move_end(struct live *l, struct output **out);

#endif
