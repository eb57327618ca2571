/*
 * Any bytes as messages of a move, selected by the first byte:
 *
 *	a	lines with the answers of the far side: they advance by one
 *		step each, beyond "go" only if it was given; a failure is the
 *		last answer, and has a reason
 *	q	frames with the question of the near side: it is refused with a
 *		reason, or each of its lines is accepted or refused with one
 *	other	frames with the snapshot: a frame is the same when it is written
 *		and read again, and references are written or refused
 */
#include "fuzz_snap.h"
#include "io/io.h"

#include <sys/wait.h>

/* for their static functions */
#include "../../cmd/snap/far.c"
#include "../../cmd/snapload/question.c"

#ifdef LIBFUZZER
#include "fuzz_mutate.h"

enum { FRAMES = 100 };

/*
 * Change the data, type or length of a frame, or drop or duplicate it.
 */
static size_t
frame_mutate(uint8_t *p, size_t n, size_t max)
{
	static const char letters[] = "qdpreg";
	size_t at[FRAMES + 1], k, i, len, room;
	uint8_t *s;

	for (at[0] = k = 0; k < FRAMES && n - at[k] >= 5; k++) {
		len = (size_t)p[at[k] + 3] << 8 | p[at[k] + 4];
		len = len < n - at[k] - 5 ? len : n - at[k] - 5;
		at[k + 1] = at[k] + 5 + len;
	}
	if (k == 0)
		return LLVMFuzzerMutate(p, n, max);
	i = mutate_pick(k);
	len = at[i + 1] - at[i];
	room = len + 64;
	if ((s = calloc(1, room)) == NULL)
		return n;
	memcpy(s, p + at[i], len);
	switch (mutate_pick(8)) {
	case 0:
		n = mutate_put(p, n, max, at[i], at[i + 1], NULL, 0);
		break;
	case 1:
		n = mutate_put(p, n, max, at[i], at[i], s, len);
		break;
	case 2:
		s[0] = (uint8_t)letters[mutate_pick(6)];
		n = mutate_put(p, n, max, at[i], at[i + 1], s, len);
		break;
	case 3:
		p[at[i] + 1 + mutate_pick(4)] = (uint8_t)mutate_random();
		break;
	default:
		room = 5 + mutate_text(s + 5, len - 5, room - 5);
		s[3] = (uint8_t)((room - 5) >> 8);
		s[4] = (uint8_t)(room - 5);
		n = mutate_put(p, n, max, at[i], at[i + 1], s, room);
	}
	free(s);
	return n;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	static const char *const words[] = { "alive\n", "ready\n", "restored\n",
	    "resumed\n", "running\n", "failed x\n", "undone x\n",
	    "ran x\n", "!" };
	const char *s;

	mutate_seed(seed);
	if (n < 2 || mutate_pick(16) == 0)
		return LLVMFuzzerMutate(p, n, max);
	if (*p != 'a')
		return 1 + frame_mutate(p + 1, n - 1, max - 1);
	s = words[mutate_pick(sizeof words / sizeof *words)];
	if (mutate_pick(2) == 0)
		return mutate_put(p, n, max, n, n, s, strlen(s));
	return 1 + mutate_text(p + 1, n - 1, max - 1);
}
#endif

/*
 * Not used: the near side asks nothing here.
 */
int
question_make(struct buf *b, struct live *l, bool early)
{
	(void)b;
	(void)l;
	(void)early;
	abort();
}

/*
 * Pass the lines to the near side. At the line "!" it gives its permission.
 */
static void
check_answers(const char *text)
{
	struct far f = { .fd = -1 };
	enum answer was = ANSWER_NONE;
	char *all, *line, *next;

	pthread_mutex_init(&f.lock, NULL);
	pthread_cond_init(&f.changed, NULL);
	MUST((all = strdup(text)) != NULL);
	for (next = all; (line = strsep(&next, "\n")) != NULL && next != NULL;
	    was = f.last) {
		if (*line == '!') {
			f.went = true;
			line++;
		}
		line[strnlen(line, sizeof f.why - 1)] = '\0';
		far_line(&f, line);
		MUST(f.last == was || f.last == was + 1 ||
		    f.last == ANSWER_FAILED);
		MUST(f.last == ANSWER_FAILED || f.last < ANSWER_RESUMED ||
		    f.went);
		MUST(was != ANSWER_FAILED || f.last == ANSWER_FAILED);
		MUST(was != ANSWER_RUNNING || f.last == ANSWER_RUNNING);
		MUST(!f.undone || !far_went(&f));
		MUST((f.last == ANSWER_FAILED) == (far_check(&f) == -1));
	}
	pthread_cond_destroy(&f.changed);
	pthread_mutex_destroy(&f.lock);
	free(all);
}

/*
 * Make standard input a file with these bytes.
 */
static void
input_set(const uint8_t *data, size_t n)
{
	int fd = memory_file(data, n);

	MUST(lseek(fd, 0, SEEK_SET) == 0);
	MUST(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	close(fd);
}

static void
check_question(struct receiving *r)
{
	struct buf b = { 0 };
	char *line, *next;

	if (question_read(r, &b) == -1)
		MUST(*snap_errstr() != '\0');
	else
		for (next = (char *)b.data; (line = strsep(&next, "\n")) !=
		    NULL;) {
			errstr_set("%s", "");
			MUST(line_check(r, line) == 0 ||
			    *snap_errstr() != '\0');
		}
	buf_free(&b);
}

/*
 * Read the frames. References of a frame are written to a file of a fixed size,
 * as there may be 2^64 of them.
 */
static void
check_frames(struct receiving *r)
{
	char letter, again;
	uint8_t *copy;
	size_t n, m;
	int pipes[2], fd, rc;

	MUST((fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING)) !=
	    -1);
	MUST(ftruncate(fd, 256 * KB) == 0);
	MUST(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) == 0);
	MUST((copy = malloc(MAX_FRAME)) != NULL);
	while ((rc = frame_read(STDIN_FILENO, &letter, r->data, &n)) == 1) {
		MUST(n <= MAX_FRAME && letter != FRAME_PACKED);
		if (letter == FRAME_RUN && n < MAX_FRAME) {
			r->data[n] = '\0';
			MUST(lseek(fd, 0, SEEK_SET) == 0);
			MUST(refer_write(fd, (char *)r->data) == 0 ||
			    *snap_errstr() != '\0');
		} else if (n <= PIPEMOST / 2) {
			MUST(pipe2(pipes, O_CLOEXEC) == 0);
			MUST(frame_write(pipes[1], letter, r->data, n) == 0);
			close(pipes[1]);
			MUST(frame_read(pipes[0], &again, copy, &m) == 1);
			MUST(again == letter && m == n);
			MUST(n == 0 || memcmp(copy, r->data, n) == 0);
			MUST(frame_read(pipes[0], &again, copy, &m) == 0);
			close(pipes[0]);
		}
	}
	MUST(rc == 0 || *snap_errstr() != '\0');
	free(copy);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct receiving r = { .dir = "/" };
	char *text;

	if (n < 1)
		return 0;
	if (*data == 'a') {
		MUST((text = strndup((const char *)data + 1, n - 1)) != NULL);
		check_answers(text);
		free(text);
		return 0;
	}
	MUST((r.data = malloc(MAX_FRAME)) != NULL);
	input_set(data + 1, n - 1);
	if (*data == 'q')
		check_question(&r);
	else
		check_frames(&r);
	free(r.data);
	return 0;
}
