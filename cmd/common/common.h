/*
 * What programs have in common: how they begin and end, what they print of
 * names and totals.
 */
#ifndef COMMON_H
#define COMMON_H

#include "snap.h"
#include "space.h"

/* name.c */
void		 name_terminal(void);
void		 name_make(char *, size_t, const struct vma *);
const char	*name_fit(const char *, int);

/* program.c */
void		 program_descriptors(void);
void		 program_files(void);
double		 program_seconds(const char *);
const char	*program_outfile(char *const [], int, const char *);
void		 program_signals(void);
void		 program_warn(const char *, ...)
		    __attribute__((format(printf, 1, 2)));
void		 program_confine(const struct confined *, bool);

/* totals.c */
bool		 totals_plan9(const struct snap *, char *, size_t);
void		 totals_text(const struct snap *, const struct output *,
		    char *, size_t);

#endif
