/*
 * Allocations that fail. Tests that include this link with the options that
 * t_alloc.c has at its top.
 */
#include "util.h"

#include <sys/mman.h>

#include <errno.h>
#include <stdlib.h>

static bool armed;
static bool nothreads;		/* only pthread_create(3) fails */
static bool forever;		/* the n-th and all later ones fail */
static atomic_ulong calls;
static unsigned long nth;

static bool
fails(void)
{
	unsigned long n;

	if (!armed)
		return false;
	n = ++calls;
	if (n != nth && !(forever && n > nth))
		return false;
	errno = ENOMEM;
	return true;
}

#define WRAP(type, name, args, call)					\
	type __real_##name args;					\
	type __wrap_##name args;					\
	type								\
	__wrap_##name args						\
	{								\
		return fails() ? NULL : __real_##name call;		\
	}

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, reallocarray, (void *p, size_t n, size_t size), (p, n, size))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))

void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
int __real_pthread_create(pthread_t *, const pthread_attr_t *,
    void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *,
    void *(*)(void *), void *);
int __wrap_asprintf(char **, const char *, ...);
int __wrap___asprintf_chk(char **, int, const char *, ...);

void *
__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return fails() ? MAP_FAILED :
	    __real_mmap(addr, len, prot, flags, fd, off);
}

int
__wrap_pthread_create(pthread_t *t, const pthread_attr_t *a,
    void *(*f)(void *), void *arg)
{
	return nothreads || fails() ? EAGAIN :
	    __real_pthread_create(t, a, f, arg);
}

static int
print(char **p, const char *fmt, va_list ap)
{
	return fails() ? -1 : vasprintf(p, fmt, ap);
}

int
__wrap_asprintf(char **p, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = print(p, fmt, ap);
	va_end(ap);
	return n;
}

int
__wrap___asprintf_chk(char **p, int flag, const char *fmt, ...)
{
	va_list ap;
	int n;

	(void)flag;
	va_start(ap, fmt);
	n = print(p, fmt, ap);
	va_end(ap);
	return n;
}

/*
 * Call try with the n-th allocation failing, for n from 1 until try makes fewer
 * than n allocations. Repeat it with all later allocations failing as well.
 */
static void
each_failure(int (*try)(void *), void *arg)
{
	unsigned long most;
	int mode, rc;

	for (mode = 0; mode < 2; mode++) {
		forever = mode == 1;
		for (nth = 1, most = 0;; nth++) {
			errstr_set("%s", "");
			calls = 0;
			rc = try(arg);
			assert_false(armed);
			most = calls;
			if (most < nth)
				break;
			assert_true(nth < 100000);
			if (rc == -1)
				assert_true(*snap_errstr() != '\0');
		}
		assert_int_equal(rc, 0);
		assert_true(nth > 5);
	}
}
