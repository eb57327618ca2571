/*
 * What the files of records share: archive.c (what a record is), edit.c (one
 * that is changed), pack.c and apply.c (what it tells of the model).
 */
#ifndef ARCHIVE_H
#define ARCHIVE_H

#include "record.h"

#define MEM_MISSING	"missing"
#define TEXT_MISSING	"missing-text"
#define CARRIED		"carried"

/* archive.c */
void		 linuxrec_begin(struct buf *b, const char *cputype);
bool		 linuxrec_is(const struct file *rec);

/* edit.c */
int		 linuxrec_copy(struct buf *b, const struct file *rec,
		    struct linuxrec *r, recedit_fn edit, void *arg);

#endif
