/*
 * What the files of records share: archive.c (what a record is), edit.c (one
 * that is changed), pack.c and apply.c (what it tells of the model).
 */
#ifndef LINUXREC_H
#define LINUXREC_H

#include "edit.h"

#define MEM_MISSING	"missing"
#define TEXT_MISSING	"missing-text"
#define CARRIED		"carried"

/* archive.c */
void		 linuxrec_begin(struct buf *b, const char *cputype);
void		 linuxrec_head(struct buf *b, const char *name, size_t n,
		    size_t len);
void		 linuxrec_add(struct buf *b, const char *name,
		    const void *data, size_t len);
bool		 linuxrec_is(const struct file *rec);

/* edit.c */
int		 linuxrec_copy(struct buf *b, const struct file *rec,
		    struct linuxrec *r, recedit_fn edit, void *arg);

#endif
