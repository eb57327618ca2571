/*
 * Input and output streams, files and directories that appear only when they
 * are complete, spools, opening of untrusted names, and the helper process of a
 * confined program. Readers look at bytes of an input and then skip them;
 * io/gzip decompresses.
 */
#ifndef IO_H
#define IO_H

#include "passfd.h"
#include "source.h"

enum {
	SUM_BYTES = 1024 * 1024,
	INPUT_CHUNK = 256 * 1024 /* number of bytes of a stream to read at a
				    time */
};

struct input;

struct sums {
	uint64_t	*sum;	/* owned */
	size_t		 n;
	uint64_t	 bytes;	/* number of bytes added so far */
	size_t		 part;	/* number of bytes added to the unfinished
				   megabyte */
	struct XXH3_state_s *state; /* owned; hash of the unfinished megabyte */
	bool		 failed; /* memory ran out */
};

struct inflater {
	ssize_t		(*read)(struct input *packed, void *state, void *buf,
			    size_t n);	/* like read(2), but sets errstr */
	void		(*free)(void *state);
};

struct input {
	int		 fd;
	char		*name;	/* owned */
	uint8_t		*buf;	/* owned */
	size_t		 cap;
	size_t		 start;	/* index in buf of the first byte not skipped */
	size_t		 end;
	uint64_t	 pos;	/* position of buf[start] in the stream */
	uint64_t	 size;	/* size of the stream in bytes; UINT64_MAX:
				   unknown, as for a pipe */
	uint64_t	 real;	/* space that the file occupies on disk, in
				   bytes; UINT64_MAX: not a regular file */
	off_t		 origin; /* start of the stream in the regular file,
				    or in the decompressed gzfile */
	struct stat	 st;	/* from fstat(2) when the file was opened */
	bool		 eof;
	bool		 failed; /* the next byte cannot be read; the reason is
				    in "why" */
	char		 why[512];
	bool		 cut;	/* the file of a compressed stream ends too
				   early */
	struct input	*packed; /* the compressed stream, or NULL; owned except
				    for its fd, which is shared */
	const struct inflater *inflater; /* decompressor for the stream
					    "packed" */
	void		*state;	/* owned by the decompressor */
	struct gzipfile	*gzfile; /* owned; compressed file with random access,
				    or NULL */
	bool		 random; /* read with pread(2) at pos, not
				    sequentially */
	uint64_t	 most;	/* treat this position as the end of the
				   stream */
	struct sums	*sums;	/* borrowed; checksums of skipped bytes; or
				   NULL */
	size_t		 verified; /* bytes of "buf" before this index are
				      already included in "sums" */
	struct progress	*progress; /* borrowed; counts bytes read; or NULL */
};

struct written {		/* range of a file whose write-back disk_begin()
				   has not started yet */
	int		 fd;
	uint64_t	 at;
	uint64_t	 n;
};

struct newfile {
	int		 fd;
	char		*path;	/* owned; final path */
	const char	*name;	/* borrowed; last component of path */
	int		 dir;	/* owned; directory of path; -1: the file
				   keeps its name */
	char		*tmp;	/* owned; temporary name in dir; NULL: no
				   name yet */
	bool		 by_helper; /* the file was created by the helper, which
				       knows its dir and tmp */
	bool		 isnew;	/* result of newfile_isnew() in the helper */
};

struct helper_answer {
	int		 rc;
	int		 error;		/* errno of the request */
	char		 why[512];	/* error string of the request */
};

struct iovec;
struct outdir;
struct behind;

/* behind.c */
struct behind	*behind_new(size_t size, bool kept);
int		 behind_write(struct behind *b, int fd, uint8_t **buf, size_t n,
		    uint64_t at);
int		 behind_end(struct behind *b);
void		 disk_begin(struct written *w, int fd, uint64_t at, size_t n);

/* beneath.c */
int		 beneath_open(int dir, const char *path);
int		 beneath_resolve(int dir, const char *path, int flags,
		    uint64_t resolve);
int		 beneath_reopen(int fd, int flags);
bool		 link_istrusted(int dir, const char *name, int fd);

/* budget.c */
uint64_t	 input_room(const struct input *in);
uint64_t	 input_taken(const struct input *in);
uint64_t	 room_real(int fd, const struct stat *st, off_t from);

/* gunzip.c */
int		 gunzip_begin(struct input *in);

/* helper.c */
void		 helper_set(int sock, pid_t pid);
bool		 helper_there(void);
int		 helper_ask(char what, const char *path, int *rc);
void		 helper_quit(void);

/* inflate.c */
int		 input_gunzip(struct input *in, bool salvage);
bool		 input_plain(const struct input *in);
bool		 input_iscut(const struct input *in);

/* input.c */
struct input	*input_open(const char *path);
struct input	*input_fd(const char *name, int fd);
struct input	*input_memory(const char *name, const void *data, size_t len);
bool		 input_changed(const struct input *in);
void		 input_close(struct input *in);
size_t		 input_fill(struct input *in, size_t n);
const uint8_t	*input_peek(struct input *in, size_t n);
int		 input_end(const struct input *in);
void		 input_skip(struct input *in, size_t n);
ssize_t		 input_some(struct input *in, void *buf, size_t n,
		    uint64_t pos);
int		 input_pread(struct input *in, void *buf, size_t n,
		    uint64_t pos);
int		 input_seek(struct input *in, uint64_t pos);
void		 input_guess(struct input *in, size_t n);
void		 input_keep(struct input *in, size_t mib);
void		 input_unpacked(struct input *in);
int		 input_widen(struct input *in, uint64_t size);
void		 input_cut(struct input *in, uint64_t pos);
void		 input_sum(struct input *in, struct sums *sums);

/* newfile.c */
int		 newfile_open(struct newfile *f, const char *path);
bool		 newfile_isnew(const struct newfile *f);
int		 newfile_finish(struct newfile *f);
void		 newfile_close(struct newfile *f);

/* outdir.c */
struct outdir	*outdir_open(const char *path, const char *last, bool force);
int		 outdir_file(struct outdir *o, const char *name);
int		 outdir_put(struct outdir *o, const char *name,
		    const void *data, size_t len);
int		 outdir_clear(struct outdir *o, bool (*match)(const char *));
int		 outdir_link(struct outdir *o, const char *name,
		    const char *target);
int		 outdir_commit(struct outdir *o, const char *last,
		    const void *data, size_t len);
void		 outdir_leave(struct outdir *o);
void		 outdir_abort(struct outdir *o);

/* outmark.c */
uint64_t	 output_lacks(const struct output *o, uint64_t least);
int		 output_mark(struct output *o);
int		 output_publish(struct output *o);
int		 output_rewind(struct output *o);
int		 output_undo(struct output *o);
struct source	*output_source(struct output *o, struct snap *s,
		    uint32_t pitch);

/* outname.c */
int		 outname_dir(const char *path, const char **name);
int		 outname_opendir(const char *path, int *made);
int		 outname_inherited(const char *path);
int		 outname_device(int at, const struct stat *st,
		    const char *path);

/* output.c */
int		 output_check(const struct output *o);
int		 output_compress(struct output *o, int threads);
struct progress	*output_progress(const struct output *o);
char		*output_room(struct output *o, size_t n, size_t *most);
void		 output_filled(struct output *o, const char *end);
int		 output_sum(struct output *o, struct sums *sums);

/* bulk.c: very long sequences of bytes */
struct bulk {
	struct buf	 b;	/* bytes in memory, which follow those in the
				   file */
	size_t		 filed;	/* number of bytes in the file */
	int		 fd;	/* owned if filed is not 0; temporary file */
	bool		 full;	/* no more bytes can be written to the file */
};

void		 bulk_add(struct bulk *k, const void *data, size_t n);
int		 bulk_finish(struct bulk *k, uint8_t **data, size_t *len);
void		 bulk_free(struct bulk *k);

/* part.c */
struct input	*input_part(const struct input *in, const char *name,
		    uint64_t pos, uint64_t n);

/* progress.c */
void		 progress_write(struct progress *p);

/* regular.c */
int		 regular_reopen(int at);
int		 regular_take(int at, const char *path);
int		 regular_open(const char *path);
int		 regular_iself(int fd);

/* spool.c */
void		 spool_inmemory(bool memory);
int		 spool_memory(const char *name, unsigned int flags);
struct source	*source_spool(struct snap *s);
int64_t		 spool_add(struct source *src, const void *page, size_t len);
uint64_t	 spool_room(struct source *src, uint64_t len);
int		 spool_finish(struct source *src);
int		 spool_flush(struct source *src);
int		 spool_write(int fd, const void *p, size_t n);

/* source.c */
struct source	*source_open(struct snap *s, const char *path);
struct source	*source_input(struct snap *s, struct input *in);
struct source	*input_source(struct snap *s, struct input *in,
		    uint32_t pitch);
int		 input_spool(struct input *in);

/* sums.c */
struct sums	*sums_new(void);
void		 sums_free(struct sums *s);
void		 sums_add(struct sums *s, const void *data, size_t n);
void		 sums_resume(struct sums *s);
int		 sums_end(struct sums *s);
uint64_t	 sums_of(const void *data, size_t n);

/* unzstd.c */
int		 unzstd_begin(struct input *in);

#endif
