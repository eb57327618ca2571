/*
 * Use all functions of libsnap on a snapshot of one process: library FILE
 * PREFIX writes PREFIX.snap, PREFIX.core and PREFIX.images.  It compiles as C
 * and as C++.
 */
#include <snap.h>
#include <snap_capture.h>
#include <snap_write.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
warn(void *arg, const char *text)
{
	(void)arg;
	printf("%s\n", text);
}

static int
fail(void)
{
	printf("%s\n", snap_errstr());
	return 1;
}

static void
show_task(struct snap_task *t)
{
	struct snap_mapping *m;
	size_t maps, regs;

	maps = 0;
	m = NULL;
	while ((m = snap_mapping_next(t, m)) != NULL) {
		maps++;
		if (snap_mapping_find(t, snap_mapping_end(m) - 1) != m)
			printf("a mapping is not found\n");
	}
	for (regs = 0; snap_register_name(t, regs) != NULL; regs++)
		continue;
	printf("%s %" PRIu64 " %s %c, %zu mappings, %zu registers\n",
	    snap_task_process(t) == t ? "process" : "thread", snap_task_id(t),
	    snap_task_name(t), snap_task_state(t), maps, regs);
}

static void
show_text(struct snap_task *t)
{
	struct snap_mapping *m;
	uint64_t start, size, end;
	unsigned char b[8];

	m = snap_mapping_next(t, NULL);
	if (snap_mapping_offset(m) != 0 || snap_mapping_name(m)[0] != '/' ||
	    strcmp(snap_mapping_perms(m), "r--p") != 0)
		printf("the first mapping is not a program\n");
	if (snap_read(t, snap_mapping_start(m), b, sizeof b) == sizeof b)
		printf("text %02x%02x%02x%02x", b[0], b[1], b[2], b[3]);
	/* reads stop at the end of the stack, the last mapping before a gap */
	m = NULL;
	while ((m = snap_mapping_next(t, m)) != NULL)
		if (strcmp(snap_mapping_name(m), "[stack]") == 0)
			break;
	printf(", %zd of 8 bytes at its end",
	    snap_read(t, snap_mapping_end(m) - 5, b, sizeof b));
	for (end = 0; snap_memory_next(t, end, &start, &size) == 1;
	    end = start + size)
		if (start < end || size == 0 ||
		    snap_read(t, start + size - 1, b, sizeof b) != 1)
			printf(", not memory: %" PRIx64, start);
	if (end <= snap_mapping_start(m))
		printf(", no memory");
	printf(", %s after it\n", snap_read(t, snap_mapping_end(m), b, 1) == -1
	    ? "none" : "some");
}

static void
show_records(struct snap_task *t)
{
	struct snap_record *r;
	const char *data;
	size_t i, n, lines;

	r = NULL;
	n = 0;
	while ((r = snap_record_next(t, r)) != NULL) {
		n++;
		if (snap_record_find(t, snap_record_name(r)) != r)
			printf("a record is not found\n");
	}
	if (n < 20 || snap_record_find(t, "none such") != NULL)
		printf("%zu records\n", n);
	r = snap_record_find(t, "environ");
	data = (const char *)snap_record_data(r, &n);
	for (lines = i = 0; i < n; i++)
		lines += data[i] == '\0';
	printf("environ %zu lines\n", lines);
}

int
main(int argc, char *argv[])
{
	struct snap_capture *c;
	struct snap_file *f;
	struct snap_task *t;
	uint64_t pc, ip;
	char path[512];

	if (argc != 3)
		return 2;
	if ((f = snap_open(argv[1])) == NULL)
		return fail();
	t = snap_process_next(f, NULL);
	if (t == NULL || snap_process_next(f, t) != NULL ||
	    snap_thread_next(t, NULL) != t || snap_thread_next(t, t) != NULL ||
	    snap_task_find(f, snap_task_id(t)) != t ||
	    snap_task_find(f, 0) != NULL || snap_time(f) < 1700000000 ||
	    strncmp(snap_header(f), "process snapshot ", 17) != 0 ||
	    strcmp(snap_task_machine(t), "amd64") != 0)
		printf("it is not one process\n");
	show_task(t);
	show_text(t);
	show_records(t);
	if (snap_register(t, "pc", &pc) == -1 ||
	    snap_register(t, "rip", &ip) == -1 || pc != ip)
		printf("pc is not rip\n");
	if (snap_register(t, "xyzzy", &pc) == -1)
		printf("no register of it: %s\n", snap_errstr());
	snprintf(path, sizeof path, "%s.core", argv[2]);
	if (snap_save_core(t, path) == -1)
		return fail();
	snprintf(path, sizeof path, "%s.snap", argv[2]);
	if (snap_save(f, path, 0, warn, NULL) == -1)
		return fail();
	snprintf(path, sizeof path, "%s.images", argv[2]);
	if (snap_save_criu(f, path, SNAP_OVERWRITE, warn, NULL) == -1)
		return fail();
	snap_close(f);
	c = snap_capture_new(warn, NULL);
	if (c == NULL || snap_capture_set(c, SNAP_PASSIVE, 1) == -1 ||
	    snap_capture_set(c, SNAP_TIMEOUT, 1) == -1 ||
	    snap_capture_save(c, path, 0) != -1 ||
	    snap_capture_name(c, "no such name") != -1 ||
	    snap_capture_cgroup(c, "/no such cgroup") != -1 ||
	    snap_capture_set(c, SNAP_MEMORY, 0) != -1)
		printf("an error is not reported\n");
	snap_capture_free(c);
	return 0;
}
