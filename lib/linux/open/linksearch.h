/*
 * The search for another name of a file: linksearch.c.
 */
#ifndef LINKSEARCH_H
#define LINKSEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct linkwish {		/* a file of which a name is wanted */
	int		 root;	/* borrowed; where path begins */
	const char	*path;	/* borrowed; the name that it had */
	uint64_t	 mount;	/* number of the mount it is on */
	uint64_t	 dev;
	uint64_t	 ino;
	bool		 layered; /* inode numbers of directories lie */
};

struct linkbudget {		/* of all searches together */
	size_t		 left;	/* entries of directories to be looked at */
	uint64_t	 until;	/* of now_ms */
};

char		*link_search(const struct linkwish *, struct linkbudget *,
		    int *);
bool		 link_leads(int, const char *, uint64_t, uint64_t);

#endif
