/*
 * Bytes that are mapped from a temporary file, as they are too many to be held:
 * io/bulk.c makes such.  They are read and freed as those of malloc(3) are, and
 * known by where they begin.
 */
#include "model.h"
#include "vec.h"

#include <sys/mman.h>

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct mapped {
	struct mapped	*next;	/* owned */
	uint8_t		*data;	/* owned */
	size_t		 len;
	size_t		 left;	/* bytes of it that were given back */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapped *all;	/* under lock; few */

/*
 * Map len bytes of file fd, which may be closed then.  Return where they are,
 * to be freed by data_free; NULL with errstr.
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
 * Return the link to what is mapped at data; one to NULL if nothing is.
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
 * Free data, bytes of malloc(3) or mapped; or NULL.
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
 * Give back the memory of data, if it is mapped, up to the first upto bytes of
 * it, which were read: they are read from their file if they are wanted again.
 */
void
data_forget(const uint8_t *data, size_t upto)
{
	enum { LEAST = 1024 * KB };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct mapped *m;

	pthread_mutex_lock(&lock);
	m = *mapped_find(data);
	if (m != NULL && upto < m->left)	/* it is read once more */
		m->left = 0;
	if (m != NULL && upto - m->left >= LEAST) {
		upto = upto / page * page;
		(void)madvise(m->data + m->left, upto - m->left,
		    MADV_DONTNEED);
		m->left = upto;
	}
	pthread_mutex_unlock(&lock);
}
