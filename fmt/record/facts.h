/*
 * What the files of facts share: factlist.c (lists of them), factstate.c (those
 * that texts of a record tell) and facts.c (all of a process).  snap.h has what
 * programs do.
 */
#ifndef FACTS_H
#define FACTS_H

#include "record.h"

/* factlist.c */
int		 factlist_add(struct factlist *, enum subject, uint64_t,
		    const char *, const char *, size_t);
void		 factlist_sort(struct factlist *);

/* factstate.c */
int		 facts_descriptors(struct factlist *, const struct linuxrec *);
int		 facts_environ(struct factlist *, const struct linuxrec *);
int		 facts_limits(struct factlist *, const struct linuxrec *);
int		 facts_status(struct factlist *, const struct linuxrec *);
int		 facts_signals(struct factlist *, const struct linuxrec *);

#endif
