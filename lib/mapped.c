/*
 * File data too large for memory, mapped from a temporary file that io/bulk.c
 * makes. It is read and freed like memory from malloc(3), and found by its
 * start address.
 */
#include "model.h"
#include "vec.h"

#include <sys/mman.h>

#include <pthread.h>
#include <unistd.h>

struct mapped {
	struct mapped	*next;	/* owned */
	uint8_t		*data;	/* owned */
	size_t		 len;
	size_t		 left;	/* number of bytes already discarded at the
				   start */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapped *all;	/* protected by "lock"; a short list */

/*
 * Map len bytes of file fd into memory. The caller may then close fd. Return
 * the address of the bytes, which data_free() frees, or NULL with errstr set.
 */
uint8_t *
data_map(int fd, size_t len)
{
	struct mapped *m;

	if ((m = mem_new(1, sizeof *m)) == NULL)
		return NULL;
	m->data = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	if (m->data == MAP_FAILED) {
		free(m);
		errstr_sys("temporary file");
		return NULL;
	}
	m->len = len;
	pthread_mutex_lock(&lock);
	m->next = all;
	all = m;
	pthread_mutex_unlock(&lock);
	return m->data;
}

/*
 * Find the mapping at data in the list. Return the address of the link to it,
 * or of the final NULL link if there is no such mapping.
 */
static struct mapped **
mapped_find(const uint8_t *data)
{
	struct mapped **m;

	for (m = &all; *m != NULL && (*m)->data != data;)
		m = &(*m)->next;
	return m;
}

/*
 * Free data, which is from malloc(3) or data_map(), or NULL.
 */
void
data_free(uint8_t *data)
{
	struct mapped **at, *m;

	pthread_mutex_lock(&lock);
	if ((m = *(at = mapped_find(data))) != NULL)
		*at = m->next;
	pthread_mutex_unlock(&lock);
	if (m == NULL) {
		free(data);
		return;
	}
	(void)munmap(m->data, m->len);
	free(m);
}

/*
 * If data is mapped, discard from memory its first upto bytes, which have been
 * read. The kernel reads them from the file again if they are needed.
 */
void
data_forget(const uint8_t *data, size_t upto)
{
	enum { MIN_DISCARD = 1024 * KB };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct mapped *m;

	pthread_mutex_lock(&lock);
	m = *mapped_find(data);
	if (m != NULL && upto < m->left)	/* reading started over */
		m->left = 0;
	if (m != NULL && upto - m->left >= MIN_DISCARD) {
		upto = upto / page * page;
		(void)madvise(m->data + m->left, upto - m->left,
		    MADV_DONTNEED);
		m->left = upto;
	}
	pthread_mutex_unlock(&lock);
}
