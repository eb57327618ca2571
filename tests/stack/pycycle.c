/*
 * A process whose memory looks like that of CPython 3.12, and has a thread
 * whose frames form a cycle: pycycle owned|code|threads.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct state {
	uint64_t	 word[80];
};

extern struct state _PyRuntime;
extern uint32_t Py_Version;

struct state _PyRuntime;
uint32_t Py_Version = 0x030c00f0;

static struct state interpreter, thread, frame, code;
static uint64_t cframe;
/* a page of its own, with another text in the file */
static struct {
	uint64_t	 head[2];
	uint64_t	 length;
	uint64_t	 hash;
	uint64_t	 state;
	char		 text[4096 - 40];
} name __attribute__((aligned(4096))) = {
	.length = 8,
	.state = 0x64,		/* compact, ASCII, of bytes */
	.text = "outdated"
};

static uint64_t
at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

int
main(int argc, char *argv[])
{
	const char *kind = argc > 1 ? argv[1] : "";

	name.length = (uint64_t)snprintf(name.text, sizeof name.text,
	    "endless");
	code.word[112 / 8] = code.word[128 / 8] = at(&name);
	frame.word[0] = at(&code);
	frame.word[1] = at(&frame);	/* the previous frame */
	if (strcmp(kind, "owned") == 0)
		((uint8_t *)&frame)[70] = 3;
	cframe = at(&frame);
	/* all form cycles; or there is one thread */
	thread.word[1] = strcmp(kind, "threads") == 0 ? at(&thread) : 0;
	thread.word[144 / 8] = strcmp(kind, "threads") == 0 ? 1 :
	    (uint64_t)getpid();
	thread.word[56 / 8] = at(&cframe);
	interpreter.word[0] = strcmp(kind, "threads") == 0 ?
	    at(&interpreter) : 0;
	interpreter.word[72 / 8] = at(&thread);
	_PyRuntime.word[40 / 8] = at(&interpreter);
	printf("%jx-%jx\nready\n", (uintmax_t)at(&name),
	    (uintmax_t)(at(&name) + sizeof name));
	fflush(stdout);
	for (;;)
		pause();
}
