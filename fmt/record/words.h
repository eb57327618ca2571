/*
 * Files of a Linux record as lines of words: snap(6), "State that restoring
 * takes".
 */
#ifndef RECWORDS_H
#define RECWORDS_H

#include "snap.h"

enum { WORDS_MAX = 16, WORDS_NAME = 64 };

struct words {			/* a file that is read line by line */
	uint64_t	 pid;	/* whose record it is in; for messages */
	char		 name[WORDS_NAME];
	char		*text;	/* owned */
	char		*next;	/* in it, the next line; NULL: none is left */
	size_t		 line;	/* number of the one at hand */
	char		*rest;	/* in text; all behind its first blank, or "" */
	char		*word[WORDS_MAX]; /* in text */
	size_t		 n;
};

int		 words_open(struct words *, const struct linuxrec *, uint64_t,
		    const char *);
int		 words_next(struct words *);
int		 words_key(struct words *);
int		 words_split(struct words *, char *);
bool		 words_form(const struct words *, size_t, const char *,
		    uint64_t *);
int		 words_bad(const struct words *, const char *);
void		 words_close(struct words *);
int		 words_one(const struct linuxrec *, uint64_t, const char *,
		    const char *, const char *, uint64_t *);
char		*words_text(const struct linuxrec *, const char *);
int		 proc_part(const struct proc *, uint64_t *);
bool		 number_parse(const char *, char, uint64_t *);

#endif
