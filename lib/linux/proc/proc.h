/*
 * Ask the kernel about processes: files below /proc, netlink(7), and namespaces
 * that we enter to ask there.
 */
#ifndef PROC_H
#define PROC_H

#include "model.h"
#include "space.h"
#include "state/state.h"

/* procfs.c: links, lists, stat and status below /proc */
char		*proc_link(pid_t, pid_t, const char *);
int		 proc_checkns(void);
bool		 path_isdeleted(const char *);
int		 proc_list(pid_t, const char *, int (*)(void *, long), void *);
int		 proc_readstat(pid_t pid, pid_t tid, struct procstat *st);
int		 task_stat(struct task *t, const void *text, size_t len);
char		 proc_state(pid_t, pid_t);
bool		 proc_died(pid_t, pid_t);
bool		 proc_islost(int);
bool		 proc_signals(pid_t pid, pid_t tid, uint64_t *caught,
		    uint64_t *ignored);
size_t		 proc_inner(pid_t pid, pid_t tid, uint64_t *num);
void		 filelist_read(struct filelist *l, pid_t pid, pid_t tid,
		    const char *name);
void		 filelist_lose(struct filelist *l, const char *name);
void		 filelist_link(struct filelist *l, pid_t pid, const char *name);

/* read.c: open and read files below /proc */
int		 proc_open(pid_t, pid_t, const char *, int);
void		 proc_path(char *path, size_t size, pid_t pid, pid_t tid,
		    const char *name);
int		 proc_read(pid_t, pid_t, const char *, struct bytes *);
int		 proc_fdinfo(pid_t pid, int fd, const char *link,
		    unsigned int mode, unsigned int major, struct bytes *out);
int		 fd_see(pid_t pid, long fd, struct statx *sx);
uint64_t	 statx_dev(const struct statx *sx);
int		 unseen_mount(int fs, unsigned int attributes);
int		 proc_smaps(pid_t pid, struct bytes *out);

/* refused.c: why access to a process is denied */
bool		 proc_ismighty(void);

/* netlink.c: sockets of netlink(7), and the attributes of its messages */
struct attributes {		/* consecutive attributes, or the value of
				   one */
	const uint8_t	*p;	/* borrowed */
	size_t		 len;	/* length in bytes */
};

struct netmessage {
	unsigned int	 type;
	unsigned int	 flags;
	const uint8_t	*p;	/* borrowed; complete message with its header */
	size_t		 len;	/* length in bytes */
};

struct netrequest {
	uint16_t	 type;
	uint16_t	 flags;	/* NLM_F_DUMP: request all objects of a kind */
	const void	*body;	/* borrowed; contents of the message after its
				   header */
	size_t		 len;	/* length in bytes */
};

typedef int	(*netmessage_fn)(void *, const struct netmessage *);

int		 netlink_socket(int protocol);
int		 netlink_ask(int fd, const struct netrequest *r,
		    netmessage_fn fn, void *arg);
bool		 netmessage_next(struct attributes *in, struct netmessage *m);
bool		 netmessage_body(const struct netmessage *m, void *body,
		    size_t len, struct attributes *a);
bool		 attribute_get(struct attributes a, unsigned int type,
		    struct attributes *v);
bool		 attribute_copy(struct attributes a, unsigned int type,
		    void *buf, size_t len);

/* visit.c: enter a namespace of another process */
enum visit_kind { VISIT_CGROUP, VISIT_IPC, VISIT_NET, VISIT_UTS };

struct visit {
	enum visit_kind	 kind;
	int		 own;	/* owned; descriptor of the original namespace;
				   -1: this thread did not move */
};

int		 visit_begin(struct visit *v, enum visit_kind k,
		    pid_t pid);
int		 visit_end(struct visit *v);

#endif
