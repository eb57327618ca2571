/*
 * libsnap: read process snapshots. libsnap(3) is the manual.
 *
 * snap_capture.h takes snapshots of live processes; snap_write.h writes
 * snapshots, ELF cores and CRIU images.
 *
 * A handle belongs to the snapshot that it came from and is valid until that is
 * closed. A snapshot is used by one thread at a time. After an error,
 * snap_errstr() returns a sentence for the calling thread.
 */
#ifndef SNAP_H
#define SNAP_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SNAP_VERSION "0.1"

struct snap_file;		/* an open snapshot */
struct snap_task;		/* a process or thread in a snapshot */
struct snap_mapping;		/* a range of the address space of a process */
struct snap_record;		/* a file that describes a task */

/*
 * Return the message of the last error in this thread, such as "x.snap: No
 * such file or directory". It is valid until the next error.
 */
const char		*snap_errstr(void);

/*
 * Open the snapshot in the file path; NULL and "-" are standard input. The
 * file may be compressed, and may also be an ELF core or a directory of CRIU
 * images. It must not change while it is open. Return NULL on error.
 */
struct snap_file	*snap_open(const char *path);

/*
 * Open a moment of the series in the file path. A series is a file with several
 * snapshots; any other file has one moment. moment is a number from 1, a time
 * of day (HH:MM or HH:MM:SS), "first" or "last"; NULL is the last, as for
 * snap_open(). Return NULL on error.
 */
struct snap_file	*snap_open_moment(const char *path,
			    const char *moment);

/*
 * snap_moments returns the number of moments in the series of f, and
 * snap_moment the number of f among them, counted from 1. Both return 0 if f is
 * not from a series.
 */
size_t			 snap_moments(const struct snap_file *f);
size_t			 snap_moment(const struct snap_file *f);

/*
 * Return moment n, counted from 1, of the series of f, or NULL on error.
 * snap_close(f) also closes it.
 */
struct snap_file	*snap_moment_get(struct snap_file *f, size_t n);

/*
 * Close f, which may be NULL, with all moments of its series, and free all its
 * handles.
 */
void			 snap_close(struct snap_file *f);

/*
 * Return the time at which f was taken, in seconds since the Epoch, or -1 if it
 * is not recorded.
 */
int64_t			 snap_time(const struct snap_file *f);

/*
 * Return the first line of f, without its newline. It is valid until f is
 * closed.
 */
const char		*snap_header(const struct snap_file *f);

/*
 * Return -1 if a list of mappings or records of f ended early since the last
 * call of this function, because memory ran out or f is damaged; otherwise 0.
 * The function that ended the list has set the message.
 */
int			 snap_error(struct snap_file *f);

/*
 * Return the process after prev in the order of the snapshot, or the first one
 * if prev is NULL; or NULL if there are no more.
 */
struct snap_task	*snap_process_next(struct snap_file *f,
			    const struct snap_task *prev);

/*
 * Return the thread after prev of a process, or the first one, which is the
 * process itself, if prev is NULL; or NULL if there are no more.
 */
struct snap_task	*snap_thread_next(struct snap_task *process,
			    const struct snap_task *prev);

/*
 * Return the process or thread with this ID, or NULL if there is none.
 */
struct snap_task	*snap_task_find(struct snap_file *f, uint64_t id);

/*
 * Return the ID, the process, the name, the state or the machine of a task. The
 * state is a letter of proc_pid_stat(5), or 0 if it is not recorded. The
 * machine is Plan 9's name of the processor: amd64, 386, arm64, arm or another
 * one. The name and the machine are "" if they are not recorded.
 */
uint64_t		 snap_task_id(const struct snap_task *t);
struct snap_task	*snap_task_process(struct snap_task *t);
const char		*snap_task_name(struct snap_task *t);
int			 snap_task_state(struct snap_task *t);
const char		*snap_task_machine(struct snap_task *t);

/*
 * Set *value to the general register of thread t with this name. Names are
 * those of the kernel (rip, x0, ...); "pc" and "sp" are the program counter and
 * the stack pointer of all machines. Return 0, or -1 on error: the snapshot
 * has no registers of t, or the machine no such register.
 */
int			 snap_register(struct snap_task *t, const char *name,
			    uint64_t *value);

/*
 * Return the name of general register i of thread t, counted from 0, or NULL if
 * it has no more.
 */
const char		*snap_register_name(struct snap_task *t, size_t i);

/*
 * Return the mapping after prev of the process of t, in the order of addresses,
 * or the first one if prev is NULL; or NULL if there are no more, or on error:
 * see snap_error().
 */
struct snap_mapping	*snap_mapping_next(struct snap_task *t,
			    const struct snap_mapping *prev);

/*
 * Return the mapping of the process of t that contains addr, or NULL if there
 * is none.
 */
struct snap_mapping	*snap_mapping_find(struct snap_task *t, uint64_t addr);

/*
 * Return the first address of mapping m, the address after the last one, the
 * offset in the mapped file, the permissions ("r-xp"), or the name ("" if it
 * has none).
 */
uint64_t		 snap_mapping_start(const struct snap_mapping *m);
uint64_t		 snap_mapping_end(const struct snap_mapping *m);
uint64_t		 snap_mapping_offset(const struct snap_mapping *m);
const char		*snap_mapping_perms(const struct snap_mapping *m);
const char		*snap_mapping_name(const struct snap_mapping *m);

/*
 * Read memory of the process of t: at most size bytes from address addr into
 * buf. Return the number of bytes read, which is less than size if a later
 * page is not in the snapshot; or -1 if the first page is not, or on error.
 */
ssize_t			 snap_read(struct snap_task *t, uint64_t addr,
			    void *buf, size_t size);

/*
 * Find the first range of memory of the process of t that is in the snapshot
 * and ends after addr. Set *start to its first address that is not below addr,
 * and *size to the number of bytes from there. Return 1, or 0 if there is none.
 */
int			 snap_memory_next(struct snap_task *t, uint64_t addr,
			    uint64_t *start, uint64_t *size);

/*
 * Return the record after prev of task t, or the first one if prev is NULL; or
 * NULL if there are no more, or on error: see snap_error(). snap-linux(6) lists
 * them.
 */
struct snap_record	*snap_record_next(struct snap_task *t,
			    const struct snap_record *prev);

/*
 * Return the record of task t with this name, such as "maps" or "fd/3", or NULL
 * if there is none.
 */
struct snap_record	*snap_record_find(struct snap_task *t,
			    const char *name);

/*
 * Return the name of record r, or its contents and their size in bytes. The
 * contents may have any bytes and have no NUL at the end.
 */
const char		*snap_record_name(const struct snap_record *r);
const void		*snap_record_data(const struct snap_record *r,
			    size_t *size);

#ifdef __cplusplus
}
#endif

#endif
