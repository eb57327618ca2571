/*
 * Files that targets choose, and those that others serve.
 */
#ifndef SERVE_H
#define SERVE_H

#include "linux/live.h"

/* linux/serve/target.c: files that a target chooses */
int		 file_open(struct live *, const struct lproc *, const char *,
		    struct targetfile *, bool *);
struct source	*file_source(struct snap *, struct targetfile *, const char *,
		    int *);
void		 file_close(struct targetfile *);
void		 file_lookelf(struct targetfile *, int);

/* linux/serve/far.c: those that are read through the proxy, as sources */
struct source	*source_far(struct snap *, const struct targetfile *,
		    const char *);

/* served.c: file systems that others serve, and may not answer */
bool		 served_not(pid_t, uint64_t);
bool		 served_notmount(pid_t, uint64_t);
bool		 served_nottype(uint64_t, long);
void		 served_forget(void);

/* shared.c: files as they were when all was stopped */
int		 frozen_copy(struct live *, int, const struct stat *);
bool		 frozen_has(const struct live *, const struct stat *);
int		 frozen_open(const struct live *, int, struct stat *);
void		 frozen_free(struct live *);

#endif
