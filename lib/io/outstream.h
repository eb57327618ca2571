/*
 * The members of an output, for output.c and outlife.c.
 */
#ifndef OUTSTREAM_H
#define OUTSTREAM_H

#include "io.h"

struct output {
	int		 fd;
	struct newfile	 file;	/* output file; path is NULL for standard
				   output */
	uint64_t	 pos;
	bool		 tail;	/* the stream now ends in a hole */
	bool		 failed; /* an error occurred; "why" describes it */
	char		 why[256];
	struct gzipout	*gz;	/* owned; compressor; NULL: not compressed */
	uint8_t		*small;	/* owned; buffer for small pieces */
	size_t		 nsmall;
	struct sums	*sums;	/* borrowed; checksums of bytes written; or
				   NULL */
	uint64_t	 written; /* number of bytes written to "fd", after
				     compression */
	struct written	 unbegun; /* range for which write-back has not
				     started */
	bool		 ended;	/* output_end() was called */
	bool		 published; /* output_publish() was called */
	uint64_t	 markpos;   /* values of "pos" and "written" at the last
				       output_mark() */
	uint64_t	 markwritten;
	struct buf	 ending;	/* owned; what output_rewind() removed
					   from the file */
	uint64_t	 endingat;	/* its offset in the file */
	bool		 rewound;	/* output_rewind() has removed it */
	struct gzipfile	*reads; /* owned; the compressed output, for
				   output_source(); or NULL */
	struct progress	*progress; /* borrowed; or NULL */
	bool		 waits;	/* writing may block until a reader reads */
	bool		 muted;	/* write nothing, see output_mute() */
	bool		 framed; /* write the stream as frames of a move: see
				    frame.c */
};

/* output.c */
void		 output_fail(struct output *o, const char *what);

#endif
