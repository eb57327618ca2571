/*
 * What records of processes that snap(1) took tell, of which CRIU images are
 * made: processes, threads, open files and descriptors; and what of it cannot
 * be restored.  What is told of open files is in opens.h.
 *
 * The lowest first:
 *
 *	images.c	the images in the making
 *	why.c		what cannot be restored, and is left out or not
 *	task.c		processes and threads
 *	users.c		users and groups, where they have others
 *	mountread.c	lists of what is mounted
 *	mounts.c	what becomes of that
 *	find.c		open files by number, inode and descriptor
 *	keyread.c	keys of open files that have no form in that table
 *	keys.c		the table of all keys
 *	open.c		open files and descriptors
 */
#ifndef CRIUFACTS_H
#define CRIUFACTS_H

#include "opens.h"
#include "record/record.h"

enum {
	MAKESHARES = 4,		/* what processes can share */
	USEC = 1000000, NSEC = 1000000000 /* in a second */
};

struct makereason {		/* why something cannot be restored */
	char		*text;	/* owned */
	enum makewhy	 kind;
};

struct maketask {		/* a process or a thread */
	struct proc	*proc;	/* borrowed */
	struct linuxrec	 rec;	/* owned */
	struct recfile	 status; /* borrowed, of rec; len 0: not told */
	struct procstat	 stat;
	uint64_t	 part;	/* of the snapshot: what was taken at once */
	uint32_t	 pid;	/* these as it sees them itself */
	uint32_t	 pgid;
	uint32_t	 sid;
	struct maketask	*parent; /* borrowed, as the next; NULL: of the root */
	struct maketask	*child;	/* the first */
	struct maketask	*sibling; /* the next */
	struct maketask	*thread; /* the first but that which leads the process;
				    of that, the next */
	struct maketask	*files;	/* borrowed; whose descriptors it has */
	struct maketask	*first[MAKESHARES]; /* borrowed; of those chosen that
					share something with this one */
	size_t		 place;	/* in order */
	uint32_t	 cgset;	/* its number in cgroup.img; 0: it is in none,
				   or a thread in that of its process */
	bool		 chosen;
	bool		 ring;	/* it was told that it has one of io_uring */
	struct makefd	*fd;	/* owned; ascending */
	size_t		 nfd;
	struct makefd	**byopen; /* owned; the same by what they lead to */
	struct vmas	 maps;	/* owned; while its images are made, as is the
				   next */
	unsigned int	*pages;	/* owned; one for each: flags of its pages
				   (enum criu_page), 0: none are restored as
				   private memory */
};

struct maketext {		/* a file that has a name, in files.img */
	uint32_t	 id;
	uint64_t	 dev;
	uint64_t	 ino;
	char		*path;	/* owned */
};

struct makeghost {		/* a deleted file; the first has number 1 */
	uint64_t	 dev;
	uint64_t	 ino;
};

struct makefilter {		/* of system calls, as one thread has it */
	const uint8_t	*code;	/* borrowed, of a record */
	size_t		 len;	/* bytes */
	uint32_t	 flags;
	bool		 chained; /* the one before it in the image was set
				   behind it */
};

struct makeshm {		/* shared memory */
	struct proc	*proc;	/* borrowed; carried along */
	uint32_t	 file;	/* the id it is mapped by; 0: not mapped */
	uint64_t	 huge;	/* bytes of a page of it; 0: small ones */
	const struct makeopen *open; /* borrowed; one that is open, or NULL */
	const struct maketask *user; /* borrowed; the first that has it */
};

enum {				/* numbers of struct makesysv */
	SYSV_ID, SYSV_KEY, SYSV_MODE, SYSV_SIZE, SYSV_UID, SYSV_GID, SYSV_CUID,
	SYSV_CGID, SYSV_ATTACHED, SYSV_NUMBERS
};

enum { MADE_ID = 2 };		/* of a namespace that criu makes */

struct makesysv {		/* memory of System V */
	uint64_t	 v[SYSV_NUMBERS];
	struct proc	*proc;	/* borrowed; carried along; or NULL */
	uint64_t	 mapped; /* mappings of those chosen */
	bool		 used;	/* by one that is restored */
	const struct maketask *whole; /* borrowed; who has all of it mapped, */
	uint64_t	 wholeend; /* up to this address */
};

struct makeidmap {		/* of user_namespaces(7) */
	uint32_t	 first;	/* in the namespace */
	uint32_t	 lower;	/* as snap knew it */
	uint32_t	 count;
};

struct makeids {
	struct makeidmap *v;	/* owned */
	size_t		 n;
};

struct makeaccept {		/* a connection that waits to be accepted */
	uint64_t	 caller; /* its inode */
	struct makeopen	*open;	/* borrowed; the socket at which it waits */
};

enum {				/* of struct makemount */
	MAKETMPFS = 5,		/* code: a tmpfs, and one of POSIX message */
	MAKEMQUEUE = 14,	/* queues */
	MAKEFORBID = 15,	/* flags: ro, nosuid, nodev, noexec */
	MAKESLAVE = 1 << 19	/* flags: it gets to know of others' mounts */
};

struct makemount {		/* what is mounted somewhere */
	uint32_t	 id;
	uint32_t	 parent; /* the id of what it is mounted on */
	uint64_t	 dev;	/* as the kernel has it: 20 bits are the
				   minor number */
	char		*root;	/* borrowed from the list, as the next */
	char		*point;
	char		*type;
	char		*source;
	char		*options; /* of its file system, but for its flags */
	char		 archive[40]; /* the file of the record that would have
				   its files */
	uint32_t	 flags;	/* of mount(2) */
	uint32_t	 system; /* those of its file system */
	uint32_t	 shared; /* groups that it is in: 0 none */
	uint32_t	 master;
	unsigned int	 code;	/* of its type, in images; 0: criu does not
				   make it */
	bool		 mapped; /* its users are */
	bool		 left;	/* it is not restored */
	char		*outside; /* owned; where else it is; or NULL */
	uint32_t	 there;	/* flags that it has there */
	uint32_t	 on;	/* the id of what is mounted there */
	bool		 external; /* criu binds it from there */
};

struct makemounts {		/* all that is mounted in a namespace */
	char		*text;	/* owned */
	struct makemount *v;	/* owned */
	size_t		 n;
	struct makemount *top;	/* borrowed; that on /, or NULL */
	size_t		 looked; /* at so many, for who covers another */
};

enum makelsm { LSM_NONE, LSM_SELINUX, LSM_APPARMOR };

struct criumake {
	struct snap	*snap;	/* borrowed, as all pointers here but where it
				   says so */
	const struct criuopts *opts;
	struct mades	*out;
	struct maketask	**task;	/* owned; one for each of snap's, NULL for
				   what is carried along */
	struct maketask	**bypid; /* owned; those that are not NULL */
	size_t		 nbypid;
	struct maketask	*root;
	struct maketask	**order; /* owned; processes, parents first */
	size_t		 norder;
	struct makeopen	**open;	/* owned; by key */
	struct makeopen	**byino; /* owned; the same by type and inode */
	size_t		 nopen;
	struct makeaccept *accept; /* owned; ascending */
	size_t		 naccept;
	struct maketext	*text;	/* owned; mapped files */
	size_t		 ntext;
	struct makeghost *ghost; /* owned */
	size_t		 nghost;
	struct makeshm	*shm;	/* owned */
	size_t		 nshm;
	struct makesysv	*sysv;	/* owned */
	size_t		 nsysv;
	uint32_t	 lastsysv; /* the greatest number of those used */
	struct makemounts inside; /* if a mount namespace is made */
	struct makemounts outside; /* where snap was */
	struct maketask	*space;	/* that tells of the IPC namespace; or NULL */
	struct maketask	*net;	/* that tells of the network namespace that is
				   made; or NULL */
	struct makecgroups *cgroups; /* owned; cgroups.c; NULL: none are
				   restored */
	bool		 users;	/* a user namespace is made, with these: */
	struct makeids	 uids;
	struct makeids	 gids;
	uint64_t	 queued; /* bytes of messages, of the fullest queue */
	struct makefilter *filter; /* owned; in seccomp.img */
	size_t		 nfilter;
	struct makeopen	**turn;	/* owned; in which descriptors wait, by turn */
	size_t		 nturn;
	uint32_t	 *tty;	/* owned; those in tty-info.img */
	size_t		 ntty;
	struct buf	*files;	/* files.img */
	struct msgs	 msgs;	/* owned; of the entry that is made */
	struct made	*common[16]; /* borrowed; images there is one of */
	size_t		 ncommon;
	uint32_t	 lastid; /* of files */
	struct makereason *reason; /* owned */
	size_t		 nreason;
	bool		 fatal;	/* one of them is about a process as a whole */
	char		**note;	/* owned; what is not quite as it was */
	size_t		 nnote;
	unsigned int	 since;	/* bits of enum makesince */
	enum makelsm	 lsm;	/* whose profiles the processes have */
	size_t		 nclosed; /* connections that are not restored */
	char		*lock;	/* owned; of the table of nft(8) by which
				   connections are locked; empty: iptables(8)
				   does; NULL: they are not */
	unsigned int	 made;	/* namespaces that are made: CLONE_NEWNET ... */
	unsigned int	 spaces; /* those that are open, and not made */
	unsigned int	 need;	/* enum criu_need: what restoring takes */
};

/* images.c */
struct made	*make_image(struct criumake *, uint32_t, const char *, ...)
		    __attribute__((format(printf, 3, 4)));
int		 make_message(struct criumake *, uint32_t,
		    const ProtobufCMessage *, const char *, ...)
		    __attribute__((format(printf, 4, 5)));
struct buf	*make_common(struct criumake *, uint32_t, const char *);

/* task.c */
int		 maketask_read(struct criumake *);
struct maketask	*maketask_find(const struct criumake *, uint64_t);
struct maketask	*maketask_process(const struct criumake *, uint64_t);
bool		 maketask_ended(const struct maketask *);
bool		 maketask_isinit(const struct maketask *);
bool		 maketask_isapart(const struct maketask *, const char *);
bool		 maketask_runs(const struct maketask *);
uint32_t	 maketask_id(const struct maketask *);
const struct maketask *maketask_leader(const struct criumake *, uint32_t);
size_t		 maketask_status(const struct maketask *, const char *,
		    unsigned int, uint64_t *, size_t);
int		 maketask_one(const struct maketask *, const char *,
		    const char *, const char *, uint64_t *);
int		 maketask_must(struct criumake *, const struct maketask *,
		    const char *, const char *, const char *, uint64_t *);
bool		 maketask_same(const struct maketask *,
		    const struct maketask *, const char *);
struct maketask	*maketask_beside(const struct criumake *,
		    const struct maketask *, const char *, const char *);
void		 maketask_free(struct criumake *);

/* users.c */
int		 makeusers_read(struct criumake *m);
uint32_t	 makeusers_uid(const struct criumake *m, uint64_t id);
uint32_t	 makeusers_gid(const struct criumake *m, uint64_t id);
void		 makeusers_free(struct criumake *m);

/* mountread.c */
int		 makemounts_read(struct makemounts *,
		    const struct maketask *, const char *);
void		 makemounts_free(struct makemounts *);

/* mounts.c */
bool		 path_isbelow(const char *, const char *);
int		 makemount_read(struct criumake *);
bool		 makemount_space(const struct criumake *);
const char	*makemount_below(const struct criumake *);
bool		 makemount_lacks(const struct criumake *, uint64_t);
bool		 makemount_isqueues(const struct criumake *, const char *);
void		 makemount_path(const struct criumake *, const char *,
		    protobuf_c_boolean *, int32_t *);

/* find.c */
int		 makefind_opens(struct criumake *);
struct makeopen	*makefind_open(const struct criumake *, uint64_t);
struct makeopen	*makefind_inode(const struct criumake *, enum openkind,
		    uint64_t);
struct makeopen	*makefind_peer(const struct criumake *,
		    const struct makeopen *);
struct makeopen	*makefind_accepter(const struct criumake *,
		    const struct makeopen *);
int		 makefind_inodecmp(const struct makeopen *,
		    const struct makeopen *);
int		 makefind_fds(struct maketask *);
const struct makefd *makefind_fd(const struct maketask *, uint64_t, uint64_t);
bool		 makefind_data(const struct criumake *, const char *, uint64_t,
		    struct recfile *);

/* keyread.c */
int		 makekey_path(struct makeopen *, struct words *);
int		 makekey_local(struct makeopen *, struct words *);
int		 makekey_remote(struct makeopen *, struct words *);
int		 makekey_icmp(struct makeopen *, struct words *);

/* keys.c */
bool		 makeopen_has(const struct makeopen *, enum openkey);
void		 makekeys_begin(struct makeopen *);
bool		 makekeys_type(struct makeopen *, const struct recfile *);
int		 makekeys_read(struct makeopen *, struct words *);
void		 makekeys_end(struct makeopen *);
struct openline	*makekeys_lines(const struct makeopen *, enum openkey,
		    size_t *);
void		 makeline_fill(const struct openline *, ProtobufCMessage *);
void		 makekey_fill(const struct makeopen *, enum openkey,
		    ProtobufCMessage *);
void		 makekeys_fill(const struct makeopen *, ProtobufCMessage *);
void		 makekeys_free(struct makeopen *);

/* open.c */
int		 makeopen_read(struct criumake *);
int		 makeopen_fds(struct criumake *, struct maketask *);
bool		 makeopen_dir(const struct makeopen *, char *, size_t);
bool		 makeopen_written(const struct makeopen *);
void		 makeopen_entry(struct criumake *, const struct makeopen *,
		    enum criu_fdtype, size_t, uint32_t, ProtobufCMessage *);
void		 makeopen_free(struct criumake *);

/* why.c */
int		 make_refuse(struct criumake *, const struct maketask *,
		    const struct makefd *, enum makewhy, const char *, ...)
		    __attribute__((format(printf, 5, 6)));
int		 make_unmapped(struct criumake *, const struct maketask *,
		    const struct vma *, enum makewhy, const char *);
int		 make_never(struct criumake *, const struct maketask *,
		    const char *, ...) __attribute__((format(printf, 3, 4)));
int		 make_note(struct criumake *, const struct maketask *,
		    const struct makefd *, const char *, ...)
		    __attribute__((format(printf, 4, 5)));
void		 make_since(struct criumake *, enum makesince);
void		 make_word(const struct criumake *, const char *, const char *);
int		 makewhy_judge(const struct criumake *);
void		 makewhy_free(struct criumake *);
int		 make_missing(struct criumake *, const struct image *,
		    const char *, uint64_t, uint64_t, uint64_t);

#endif
