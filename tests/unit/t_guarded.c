/*
 * System calls in an arm64 process stopped at any instruction of a function
 * with branch target identification and pointer authentication, also right
 * after a call, where the next instruction must be a valid branch target. The
 * tracer may die at that point.
 */
#include "tracer.h"
#include "util.h"

#ifdef __aarch64__

#include "linux/inject/inject.h"
#include "linux/machine/machine.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {				/* in the kernel's headers */
	GUARDED = 0x10,		/* PROT_BTI */
	HAS_BTI = 1 << 17,	/* HWCAP2_BTI */
	BRANCHED = 3 << 10,	/* of PSTATE: type of the last branch */
	STEPPED = 1 << 21	/* of PSTATE: single-stepped */
};

/*
 * The function: increment *rounds.
 */
static const uint32_t code[] = {
	0xd503233f,		/* paciasp: may be jumped to */
	0xa9bf7bfd,		/* stp x29, x30, [sp, #-16]! */
	0xf9400001,		/* ldr x1, [x0] */
	0x91000421,		/* add x1, x1, #1 */
	0xf9000001,		/* str x1, [x0] */
	0xa8c17bfd,		/* ldp x29, x30, [sp], #16 */
	0xd50323bf,		/* autiasp */
	0xd65f03c0		/* ret */
};

enum { CODES = sizeof code / sizeof *code };

static atomic_long *rounds;	/* shared with the process */
static void (*volatile guarded)(atomic_long *);
static pid_t target;

/*
 * Set PROT_BTI for the code of a library.
 */
static void
library_guard(const char *name)
{
	unsigned long from, to, begin, end;
	char line[512];
	FILE *f;

	begin = end = 0;
	if ((f = fopen("/proc/self/maps", "r")) == NULL)
		_exit(1);
	while (fgets(line, sizeof line, f) != NULL)
		if (strstr(line, "r-xp") != NULL &&
		    strstr(line, name) != NULL &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2) {
			begin = from;
			end = to;
		}
	fclose(f);
	if (begin != 0 && mprotect((void *)begin, end - begin, PROT_READ |
	    PROT_EXEC | GUARDED) == -1)
		_exit(1);
}

static int
setup(void **state)
{
	void *p;
	int i;

	(void)state;
	if ((getauxval(AT_HWCAP2) & HAS_BTI) == 0)
		return 0;
	rounds = mmap(NULL, sizeof *rounds, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	p = mmap(NULL, sizeof code, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(rounds, MAP_FAILED);
	assert_ptr_not_equal(p, MAP_FAILED);
	memcpy(p, code, sizeof code);
	__builtin___clear_cache(p, (char *)p + sizeof code);
	assert_int_equal(mprotect(p, sizeof code, PROT_READ | PROT_EXEC |
	    GUARDED), 0);
	guarded = (void (*)(atomic_long *))(uintptr_t)p;
	if ((target = fork()) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/*
		 * Guard the libraries whose system call instructions are used:
		 * a branch into their midst now faults.
		 */
		library_guard("/ld-linux");
		library_guard("/libc.so");
		for (;;)
			guarded(rounds);
	}
	assert_int_not_equal(target, -1);
	for (i = 0; i < timeout(5000) && *rounds == 0; i++)
		usleep(1000);
	assert_int_not_equal(*rounds, 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	if (target > 0) {
		kill(target, SIGKILL);
		waitpid(target, NULL, 0);
	}
	return 0;
}

/*
 * Stop the process and step to instruction i of the function.
 */
static int
stop_at(size_t i)
{
	const uint64_t at = (uint64_t)(uintptr_t)guarded + i * sizeof *code;
	struct gregs r;
	int n, status;

	if (ptrace(PTRACE_SEIZE, target, NULL, NULL) == -1 ||
	    ptrace(PTRACE_INTERRUPT, target, NULL, NULL) == -1 ||
	    waitpid(target, &status, __WALL) != target)
		return -1;
	for (n = 0; n < 1000; n++) {
		if (gregs_read(target, &r) == -1)
			return -1;
		if (gregs_pc(&r) == at && n > 0)
			return 0;
		if (ptrace(PTRACE_SINGLESTEP, target, NULL, NULL) == -1 ||
		    waitpid(target, &status, __WALL) != target ||
		    !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
			return -1;
	}
	return -1;
}

/*
 * Return true if the process continues.
 */
static bool
goes_on(void)
{
	const long was = *rounds;
	int i;

	for (i = 0; i < timeout(5000) && *rounds < was + 2; i++)
		usleep(1000);
	return i < timeout(5000) && waitpid(target, NULL, WNOHANG) == 0;
}

/*
 * Return its registers without the single-step flag, which only the tracer may
 * set.
 */
static struct general {
	uint64_t	 word[34];
}
registers(void)
{
	struct general r;
	struct iovec iov = { &r, sizeof r };

	memset(&r, 0, sizeof r);
	assert_int_equal(ptrace(PTRACE_GETREGSET, target, (void *)NT_PRSTATUS,
	    &iov), 0);
	r.word[33] &= ~(uint64_t)STEPPED;
	return r;
}

static void
anywhere(void **state)
{
	static const uint64_t none[6];
	struct general was, is;
	struct inject *in;
	int64_t ret;
	size_t i;

	(void)state;
	if (target <= 0)
		skip_because("no BTI here");
	for (i = 0; i < CODES; i++) {
		assert_int_equal(stop_at(i), 0);
		was = registers();
		if (i == 0)
			assert_true((was.word[33] & BRANCHED) != 0);
		assert_ptr_not_equal(in = inject_begin(stopped_anywhere(target),
		    true, NULL),
		    NULL);
		assert_int_equal(inject_call(in, &ret, SYS_getppid, none), 0);
		assert_int_equal(ret, getpid());
		assert_int_equal(inject_end(in, 0), 0);
		is = registers();
		assert_memory_equal(&was, &is, sizeof was);
		assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
		assert_true(goes_on());
	}
}

/*
 * The tracer ends while it makes calls in the process.
 */
static void
killed_anywhere(void **state)
{
	static const uint64_t none[6];
	struct inject *in;
	int64_t ret;
	pid_t tracer;
	int status;
	size_t i;

	(void)state;
	if (target <= 0)
		skip_because("no BTI here");
	for (i = 0; i < CODES; i++) {
		if ((tracer = fork()) == 0) {
			if (stop_at(i) == -1 || (in = inject_begin(
			    stopped_anywhere(target), true, NULL)) == NULL ||
			    inject_call(in, &ret, SYS_getpid, none) == -1 ||
			    ret != target)
				_exit(1);
			kill(getpid(), SIGKILL);
		}
		assert_int_equal(waitpid(tracer, &status, 0), tracer);
		assert_int_equal(status, SIGKILL);
		assert_true(goes_on());
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anywhere),
		cmocka_unit_test(killed_anywhere),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

#else

static void
anywhere(void **state)
{
	(void)state;
	skip_because("BTI is arm64's");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
