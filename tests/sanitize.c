/*
 * Linked into the programs of "make asan": fork(2) waits until no other thread
 * allocates. The AddressSanitizer of gcc 13 and older does not do that, though
 * malloc(3) of glibc does. A child that was forked while another thread held a
 * lock of the allocator waits for that lock for ever.
 */
#include <sys/auxv.h>

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *__interceptor_malloc(size_t);
void *__interceptor_calloc(size_t, size_t);
void *__interceptor_realloc(void *, size_t);
void *__interceptor_aligned_alloc(size_t, size_t);
int __interceptor_posix_memalign(void **, size_t, size_t);
char *__interceptor_strdup(const char *);
void __interceptor_free(void *);
void __lsan_ignore_object(const void *);

/* a thread that allocates holds it for reading; fork(2) for writing */
static pthread_rwlock_t allocating = PTHREAD_RWLOCK_INITIALIZER;

static void
before_fork(void)
{
	pthread_rwlock_wrlock(&allocating);
}

static void
after_fork(void)
{
	pthread_rwlock_unlock(&allocating);
}

/*
 * Initialize the lock in the child: the threads that wait for it are not there.
 */
static void
in_child(void)
{
	pthread_rwlock_init(&allocating, NULL);
}

static void __attribute__((constructor))
hold_off_fork(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

/*
 * Return p, memory that the code at address caller allocated. The leak checker
 * ignores what the dynamic linker allocates; it sees us as the caller instead,
 * so it has to be told.
 */
static void *
allocated(void *p, const void *caller)
{
	enum { LINKER = 1 << 19 };	/* more than the linker's size */
	const uintptr_t base = (uintptr_t)getauxval(AT_BASE);

	if (p != NULL && (uintptr_t)caller - base < LINKER)
		__lsan_ignore_object(p);
	return p;
}

#define LOCKED(type, call) do { \
	pthread_rwlock_rdlock(&allocating); \
	type result = call; \
	pthread_rwlock_unlock(&allocating); \
	return result; \
} while (0)

#define CALLER __builtin_return_address(0)

void *
malloc(size_t size)
{
	LOCKED(void *, allocated(__interceptor_malloc(size), CALLER));
}

void *
calloc(size_t n, size_t size)
{
	LOCKED(void *, allocated(__interceptor_calloc(n, size), CALLER));
}

void *
realloc(void *p, size_t size)
{
	LOCKED(void *, allocated(__interceptor_realloc(p, size), CALLER));
}

void *
aligned_alloc(size_t align, size_t size)
{
	LOCKED(void *, allocated(__interceptor_aligned_alloc(align, size),
	    CALLER));
}

int
posix_memalign(void **p, size_t align, size_t size)
{
	LOCKED(int, __interceptor_posix_memalign(p, align, size));
}

char *
strdup(const char *s)
{
	LOCKED(char *, __interceptor_strdup(s));
}

void
free(void *p)
{
	pthread_rwlock_rdlock(&allocating);
	__interceptor_free(p);
	pthread_rwlock_unlock(&allocating);
}
