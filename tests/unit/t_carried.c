/*
 * Files embedded as memory: embedded.c.
 */
#include "model.h"
#include "space.h"
#include "util.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char path[] = "/dev/zero (deleted)";
static const struct vma object = { .dev = 1, .ino = 7, .name = path };

/*
 * Embed a file of size bytes with text at each of n places.
 */
static struct proc *
embedded(struct snap *s, off_t size, const off_t *at, size_t n)
{
	struct source *src;
	int fd;

	fd = open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	assert_int_not_equal(fd, -1);
	assert_int_equal(ftruncate(fd, size), 0);
	while (n-- > 0)
		assert_int_equal(pwrite(fd, "text", 4, at[n]), 4);
	src = source_file(s, fd, "object", KB);
	assert_non_null(src);
	return embedded_addmem(s, &object, src, (uint64_t)size);
}

/*
 * Data is embedded in whole pages, zeros after its last byte. Holes are not.
 */
static void
test_holes(void **state)
{
	const off_t at[] = { 64 * PAGE, 200 * PAGE + 50 };
	struct snap *s = snap_new();
	struct span span;
	struct proc *p;
	uint8_t page[PAGE], zero[PAGE] = { 0 };

	(void)state;
	p = embedded(s, 200 * PAGE + 100, at, 2);
	assert_non_null(p);
	assert_null(p->text);
	assert_ptr_equal(embedded_find(s, &object), p);
	assert_int_equal(image_read(p->mem, 64 * PAGE, page, PAGE), 0);
	assert_memory_equal(page, "text", 4);
	assert_memory_equal(page + 4, zero, PAGE - 4);
	assert_int_equal(image_read(p->mem, 200 * PAGE, page, PAGE), 0);
	assert_memory_equal(page + 50, "text", 4);
	assert_memory_equal(page + 54, zero, PAGE - 54);
	image_span(p->mem, 0, &span);
	assert_false(span.mapped);
	image_span(p->mem, 201 * PAGE, &span);
	assert_false(span.mapped);
	snap_free(s);
}

/*
 * An object of size 0 or without data has memory without pages.
 */
static void
test_empty(void **state)
{
	struct snap *s = snap_new();
	struct proc *p;

	(void)state;
	p = embedded(s, 0, NULL, 0);
	assert_non_null(p);
	assert_int_equal(p->mem->nseg, 0);
	p = embedded(s, 10 * PAGE, NULL, 0);
	assert_non_null(p);
	assert_int_equal(p->mem->nseg, 0);
	snap_free(s);
}

/*
 * Among files with the same device and inode, the one with the path of the
 * mapping is found. A file is also found by another path.
 */
static void
test_paths(void **state)
{
	static char a[] = "/a", b[] = "/b", c[] = "/c", z[] = "/z";
	struct vma v = { .dev = 1, .ino = 7, .name = c };
	struct snap *s = snap_new();
	struct proc *p, *q;

	(void)state;
	p = embedded_add(s, &v, source_nothing(s), 1);
	v.name = a;
	assert_ptr_equal(embedded_find(s, &v), p);
	v.name = z;
	assert_ptr_equal(embedded_find(s, &v), p);
	v.name = b;
	q = embedded_add(s, &v, source_nothing(s), 1);
	assert_ptr_equal(embedded_find(s, &v), q);
	v.name = c;
	assert_ptr_equal(embedded_find(s, &v), p);
	v.name = z;
	assert_non_null(embedded_find(s, &v));
	v.ino = 8;
	assert_null(embedded_find(s, &v));
	v.ino = 6;
	assert_null(embedded_find(s, &v));
	snap_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_paths)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
