/*
 * Functions that the files of facts share: factlist.c (lists), factstate.c
 * (facts from single texts of a record) and facts.c (all facts about a
 * process). snap.h has the functions for programs.
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
