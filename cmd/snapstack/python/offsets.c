/*
 * Offsets in CPython's structures on 64-bit machines: for 3.11 and 3.12 from
 * its headers (Include/internal/pycore_*.h), and from 3.13 on from the process
 * itself (struct _Py_DebugOffsets of pycore_runtime.h).
 */
#include "bisect.h"
#include "num.h"
#include "python.h"

static const struct pyoffsets known[] = {
	{ .version = 0x030b, .runtime_head = 40, .interp_next = 0,
	    .interp_id = 48, .interp_threads = 16, .interp_collecting = 848,
	    .interp_gil = UINT64_MAX, .runtime_gil = 360, .thread_next = 8,
	    .thread_native = 160, .thread_frame = 56, .cframe_frame = 8,
	    .frame_code = 32, .frame_instruction = 56, .frame_previous = 48,
	    .frame_entry = 68, .frame_owner = 69,
	    .frame_locals = 72, .code_locals = 96, .code_file = 112,
	    .code_name = 128, .code_lines = 136, .code_first = 72,
	    .code_code = 184, .ascii = 48, .compact = 72 },
	{ .version = 0x030c, .runtime_head = 40, .interp_next = 0,
	    .interp_id = 8, .interp_threads = 72, .interp_collecting = 312,
	    .interp_gil = 384, .thread_next = 8, .thread_native = 144,
	    .thread_frame = 56, .cframe_frame = 0, .frame_code = 0,
	    .frame_instruction = 56, .frame_previous = 8,
	    .frame_entry = UINT64_MAX, .frame_owner = 70,
	    .frame_locals = 72, .code_locals = 96, .code_file = 112,
	    .code_name = 128, .code_lines = 136, .code_first = 68,
	    .code_code = 192, .ascii = 40, .compact = 56 },
};

enum { /* indexes of the numbers in _Py_DebugOffsets of CPython 3.13 */
	COOKIE, VERSION, FREE_THREADED,
	RUNTIME_HEAD = 5,
	INTERP_ID = 7, INTERP_NEXT, INTERP_THREADS, INTERP_GC,
	INTERP_GIL = 14,
	THREAD_NEXT = 21, THREAD_FRAME = 23, THREAD_NATIVE = 25,
	FRAME_PREVIOUS = 29, FRAME_CODE, FRAME_INSTRUCTION, FRAME_LOCALS,
	FRAME_OWNER,
	CODE_FILE = 35, CODE_NAME, CODE_QUALNAME, CODE_LINES, CODE_FIRST,
	CODE_LOCALS = 41, CODE_CODE = 43,
	UNICODE_ASCII = 70, GC_COLLECTING = 72,
	NUMBERS
};

/*
 * Read the offsets from the _Py_DebugOffsets at address runtime into o. Return
 * false if there are none, or if their version is unknown.
 */
static bool
offsets_read(struct pyoffsets *o, struct target *t, uint64_t runtime)
{
	uint8_t raw[NUMBERS * 8];
	uint64_t v[NUMBERS];
	size_t i;

	if (!target_read(t, runtime, raw, sizeof raw) ||
	    memcmp(raw, "xdebugpy", 8) != 0)
		return false;
	for (i = 0; i < NUMBERS; i++)
		v[i] = num_get(raw + 8 * i, 8);
	if (v[VERSION] >> 16 != 0x030d || v[FREE_THREADED] != 0)
		return false;
	*o = (struct pyoffsets){
		.version = 0x030d, .runtime_head = v[RUNTIME_HEAD],
		.interp_next = v[INTERP_NEXT], .interp_id = v[INTERP_ID],
		.interp_threads = v[INTERP_THREADS],
		.interp_collecting = v[INTERP_GC] + v[GC_COLLECTING],
		.interp_gil = v[INTERP_GIL], .thread_next = v[THREAD_NEXT],
		.thread_native = v[THREAD_NATIVE],
		.thread_frame = v[THREAD_FRAME], .cframe_frame = UINT64_MAX,
		.frame_code = v[FRAME_CODE],
		.frame_instruction = v[FRAME_INSTRUCTION],
		.frame_previous = v[FRAME_PREVIOUS],
		.frame_entry = UINT64_MAX, .frame_owner = v[FRAME_OWNER],
		.frame_locals = v[FRAME_LOCALS],
		.code_locals = v[CODE_LOCALS],
		.code_file = v[CODE_FILE], .code_name = v[CODE_QUALNAME],
		.code_lines = v[CODE_LINES], .code_first = v[CODE_FIRST],
		.code_code = v[CODE_CODE], .ascii = v[UNICODE_ASCII],
		.compact = v[UNICODE_ASCII] + 16,
	};
	return true;
}

/*
 * Set o to the offsets in the structures of the Python interpreter in t.
 * _PyRuntime is at address runtime. version is the interpreter's Py_Version, in
 * the form of PY_VERSION_HEX. Return false if the version is unknown.
 */
bool
pyoffsets_get(struct pyoffsets *o, struct target *t, uint64_t runtime,
    unsigned int version)
{
	const struct pyoffsets *k;

	k = SEEK_IN(known, x->version == version >> 16);
	if (k == NULL)
		return offsets_read(o, t, runtime);
	*o = *k;
	return true;
}
