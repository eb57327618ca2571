/*
 * What is open, and what is mapped and has a name, as CRIU images: files.img
 * and those of what such files have in them.
 *
 * The lowest first:
 *
 *	ghost.c		deleted files
 *	regular.c	files with a name
 *	shm.c		shared memory
 *	queue.c		what waits in UNIX sockets
 *	sockopt.c	options of sockets
 *	unix.c		UNIX sockets
 *	standard.c	standard input, output and error that lead outside
 *	tty.c		terminals
 *	pidfd.c		descriptors of processes
 *	inotify.c	what is watched
 *	fanotify.c	likewise, by fanotify
 *	nsfile.c	namespaces
 *	netlink.c	netlink sockets
 *	packet.c	packet sockets
 *	tcp.c		connections of TCP
 *	inet.c		sockets of the internet
 *	judge.c		what of all these can be restored
 *	file.c		files.img, an entry for each
 *	locks.c		locks on files
 *	fd.c		descriptors
 */
#ifndef CRIUOPEN_H
#define CRIUOPEN_H

#include "criu/facts/facts.h"

enum {				/* ends of a pipe */
	PIPE_READ = 1, PIPE_WRITE = 2, PIPE_BOTH = PIPE_READ | PIPE_WRITE
};

/* ghost.c */
struct makeinode {		/* of a deleted file */
	uint64_t	 dev;
	uint64_t	 ino;
	uint32_t	 mode;
	uint32_t	 uid;
	uint32_t	 gid;
	uint32_t	 rdev;
	bool		 timed;	/* the next two are told */
	uint64_t	 atime;	/* ns */
	uint64_t	 mtime;	/* ns */
	bool		 sized;	/* the next is */
	uint64_t	 size;	/* bytes */
	char		*leads;	/* borrowed; where a symbolic link leads */
};

struct proc	*makereg_content(struct criumake *, uint64_t, uint64_t);
uint64_t	 makereg_size(const struct proc *);
uint64_t	 makeghost_names(const struct proc *);
void		 makeghost_inode(struct makeinode *, const struct makeopen *);
int		 makeghost_add(struct criumake *, uint32_t, struct proc *,
		    const struct makeinode *);

/* regular.c */
int		 makereg_open(struct criumake *, const struct makeopen *,
		    uint32_t, bool);
int		 makereg_path(struct criumake *, const char *, uint32_t *);
int		 makereg_mapped(struct criumake *, struct maketask *,
		    const struct vma *, uint32_t *);

/* shm.c */
struct makeshm	*makeshm_get(struct criumake *, uint64_t, uint64_t,
		    const struct maketask *);
int		 makeshm_mapped(struct criumake *, struct makeshm *,
		    uint32_t *);
uint32_t	 makeshm_huge(uint64_t);
int		 makeshm_content(struct criumake *, struct proc *, uint32_t);
int		 makeshm_write(struct criumake *);

/* queue.c: what waits in UNIX sockets */
int		 makequeue_use(struct criumake *);
const char	*makequeue_hinders(const struct criumake *,
		    const struct makeopen *);
int		 makequeue_note(struct criumake *, const struct maketask *,
		    const struct makefd *);
int		 makequeue_refuse(struct criumake *);
int		 makequeue_order(struct criumake *);
int		 makequeue_write(struct criumake *);

/* sockopt.c */
void		 makesocket_options(const struct makeopen *,
		    Criu__SocketOptions *);
int		 makesocket_note(struct criumake *, const struct maketask *,
		    const struct makefd *);

/* unix.c */
bool		 makeunix_leaves(const struct criumake *,
		    const struct makeopen *);
bool		 makeunix_external(const struct criumake *,
		    const struct makeopen *);
int		 makeunix_note(struct criumake *, const struct maketask *,
		    const struct makefd *);
void		 makeunix_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);

/* standard.c */
void		 makestandard_find(struct criumake *);
bool		 makestandard_leaves(const struct criumake *,
		    const struct makeopen *);
int		 makestandard_note(struct criumake *, const struct maketask *,
		    const struct makefd *);

/* tty.c */
const char	*maketty_hinders(const struct criumake *,
		    const struct makeopen *);
int		 maketty_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);
int		 maketty_note(struct criumake *, const struct maketask *,
		    const struct makefd *);

/* pidfd.c */
const char	*makepidfd_hinders(const struct criumake *,
		    const struct makeopen *);
void		 makepidfd_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);

/* inotify.c */
void		 makewatch_handle(Criu__FileHandle *, uint64_t *,
		    const struct makewatch *);
const char	*makeinotify_hinders(const struct makeopen *);
int		 makeinotify_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);

/* fanotify.c */
const char	*makefanotify_hinders(const struct makeopen *);
int		 makefanotify_note(struct criumake *, const struct maketask *,
		    const struct makefd *);
int		 makefanotify_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);

/* nsfile.c: namespaces */
const char	*makens_hinders(const struct criumake *,
		    const struct makeopen *);
void		 makens_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry);
void		 makens_id(const struct criumake *, const char *,
		    protobuf_c_boolean *, uint32_t *);

/* netlink.c */
const char	*makenetlink_hinders(const struct makeopen *);
void		 makenetlink_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);

/* packet.c */
const char	*makepacket_hinders(const struct makeopen *);
int		 makepacket_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);
int		 makepacket_mapped(struct criumake *, struct maketask *,
		    const struct vma *, uint32_t *);

/* tcp.c: connections of TCP */
int		 maketcp_judge(struct criumake *);
int		 maketcp_write(struct criumake *, const struct makeopen *,
		    const Criu__TcpOptions *);
bool		 maketcp_is(const struct makeopen *);
bool		 maketcp_ended(const struct makeopen *);
bool		 maketcp_goes(const struct criumake *, const struct makeopen *);

/* inet.c */
const char	*makeinet_hinders(const struct makeopen *);
enum makewhy	 makeinet_kind(const struct makeopen *);
int		 makeinet_note(struct criumake *, const struct maketask *,
		    const struct makefd *);
int		 makeinet_rest(struct criumake *);
int		 makeinet_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);

/* judge.c */
unsigned int	 makejudge_type(const struct makeopen *);
int		 makejudge_opens(struct criumake *);

/* file.c */
int		 makefile_write(struct criumake *);

/* locks.c */
int		 makelocks_write(struct criumake *, struct maketask *);

/* fd.c */
int		 makefd_write(struct criumake *, struct maketask *);

#endif
