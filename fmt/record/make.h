/*
 * A Linux record in the making, by readers of formats that have no /proc:
 * files as /proc would have them, from what the format tells.
 */
#ifndef RECORDMAKE_H
#define RECORDMAKE_H

#include "snap.h"
#include "space.h"
#include "state/state.h"

struct record {
	struct file	*file;	/* owned, with their names and bytes */
	size_t		 n;
	size_t		 cap;
	bool		 failed; /* out of memory */
};

void		 record_take(struct record *, const char *, struct buf *);
void		 record_bytes(struct record *, const char *, const void *,
		    size_t);
void		 record_printf(struct record *, const char *, const char *, ...)
		    __attribute__((format(printf, 3, 4)));
void		 record_state(struct record *r, const struct proc *p,
		    const struct task *t, struct taskstate *st);
void		 record_maps(struct record *, const struct vmas *);
int		 record_pack(struct record *r, struct proc *p,
		    const struct taskstate *st, struct task *t);
void		 record_free(struct record *);

#endif
