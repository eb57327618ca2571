/*
 * Shared by the files that read CRIU images:
 *
 *	dir.c	the files of the directory
 *	files.c	files.img, memfd.img, fdinfo	-> struct criufile
 *	machine.c	machine and page size of a checkpoint
 *	amd64.c, arm64.c	registers	-> regset/...
 *	maps.c	mm				-> mappings
 *	memory.c	pagemaps		-> memory
 *	shm.c	pagemaps of shared memory	-> embedded files
 *	elf.c	mapped files of this machine	-> text, embedded files
 *	task.c	core, mm, fs			-> struct criutask
 *	read.c	calls all the others
 */
#ifndef CRIUREAD_H
#define CRIUREAD_H

#include "criu/img/img.h"
#include "elf/elf.h"
#include "record/record.h"

struct criuname {		/* a file in the image directory */
	char		*name;
	bool		 used;	/* a process used the file */
};

struct criufile {		/* an open or mapped file */
	uint32_t	 id;	/* unique among files of its type */
	uint32_t	 type;	/* enum criu_fdtype */
	uint32_t	 named;	/* ID of the FD_REG entry with the file's path,
				   or 0 */
	char		*name;	/* the name that /proc shows */
	unsigned int	 flags;	/* flags as in open(2) */
	uint64_t	 pos;
	uint64_t	 dev;	/* device, if the file is shared memory;
				   otherwise 0 */
	uint64_t	 ino;
	bool		 dir;
	bool		 has_size;
	uint64_t	 size;
	struct buildid	 buildid; /* padded with zeros to a multiple of four
				     bytes */
	bool		 looked; /* criuelf_source() has already looked for
				    "src" */
	struct source	*src; /* borrowed; the file on this machine, or NULL */
};

struct criushm {		/* a shared memory object */
	uint64_t	 id;
	struct pagemap	*map;	/* owned; addresses are offsets within the
				   object */
	bool		 sysv;	/* a process maps it as System V shared
				   memory */
};

struct criutask {		/* a process or a thread */
	struct proc	*proc;	/* borrowed */
	struct filelist	 rec;	/* owned */
	struct task	 task;	/* owns its mappings */
	struct taskstate	 state;
	Criu__Mm	*mm;	/* owned; NULL: none */
};

struct criureader {
	struct snap	*snap;
	const char	*dir;	/* borrowed; path of the directory, for
				   messages */
	struct imgdir	*images; /* owned; the directory or archive */
	void		(*warn)(void *, const char *);
	void		*arg;
	int64_t		 time;	/* modification time of the inventory */
	const struct machine *machine; /* machine of all processes */
	uint64_t	 page;	/* page size in bytes */
	struct pool	 pool;	/* owned; has the arrays, and all names */
	struct criuname	*name;	/* sorted by name */
	size_t		 nname;
	struct criufile	*file;	/* sorted by id and type */
	size_t		 nfile;
	Criu__MemfdInode **memfd; /* owned messages */
	size_t		 nmemfd;
	struct criushm	*shm;	/* sorted by id */
	size_t		 nshm;
	size_t		 nshared; /* number of pieces of shared memory that the
				     processes map */
	size_t		 nrepeated; /* number of descriptors that processes
				       have from images already used */
	struct criutask	**task;
	size_t		 ntask;
	uint8_t		*head;	/* buffer for the start of an ELF file */
};

/* read.c */
struct snap	*criu_read(const char *dir, const struct readopts *o);
struct snap	*criu_readtar(struct input *in, const struct readopts *o);

/* dir.c */
int		 criudir_list(struct criureader *);
int		 criudir_slurp(struct criureader *, const char *, struct buf *);
int		 criudir_keep(struct filelist *, const char *, struct buf *);
int		 criudir_message(struct criureader *, struct filelist *,
		    const char *, uint32_t,
		    const ProtobufCMessageDescriptor *, void *);
int		 criudir_rest(struct criureader *, struct filelist *);
bool		 criudir_has(const struct criureader *, const char *);
bool		 criudir_use(struct criureader *, const char *);

/* files.c */
int		 criufiles_read(struct criureader *);
struct criufile	*criufile_find(struct criureader *, uint32_t, uint64_t);
struct criufile	*criufile_mapped(struct criureader *, const Criu__Vma *);
int		 criufiles_open(struct criureader *, struct criutask *,
		    uint32_t);

/* machine.c, amd64.c, arm64.c */
int		 criumachine_find(struct criureader *);
int		 criuregs_add(struct criureader *, struct criutask *,
		    const Criu__Core *);
int		 criuregs_amd64(struct criutask *, const Criu__Core *);
int		 criuregs_arm64(struct criutask *, const Criu__Core *);

/* maps.c */
int		 criumaps_make(struct criureader *, struct criutask *);

/* memory.c */
int		 criumem_read(struct criureader *, struct criutask *);

/* shm.c */
int		 criushm_read(struct criureader *);
int		 criushm_carry(struct criureader *);

/* elf.c */
struct source	*criuelf_source(struct criureader *, struct criufile *);
int		 criuelf_text(struct criureader *, struct criutask *);
int		 criuelf_carry(struct criureader *);

/* task.c */
criuimg_fn	 criutask_process;
void		 criutask_free(struct criutask *);

#endif
