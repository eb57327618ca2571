/*
 * Read CPython's interpreters in the memory of a process: python.c (threads,
 * and the global interpreter lock), offsets.c (offsets by version), code.c
 * (functions, files and lines), locals.c (local variables), text.c (strings).
 */
#ifndef PYTHON_H
#define PYTHON_H

#include "snapstack/snapstack.h"

struct pyoffsets {		/* byte offsets in CPython's structures */
	unsigned int	 version; /* version of CPython; 0x030b is 3.11 */
	uint64_t	 runtime_head; /* offset of the pointer to the first
					  interpreter */
	uint64_t	 interp_next;
	uint64_t	 interp_id;
	uint64_t	 interp_threads;
	uint64_t	 interp_collecting;
	uint64_t	 interp_gil; /* offset of the pointer to the
					interpreter's lock; UINT64_MAX: all
					interpreters share the lock at
					runtime_gil */
	uint64_t	 runtime_gil; /* offset of the lock that all
					 interpreters share */
	uint64_t	 thread_next;
	uint64_t	 thread_native;
	uint64_t	 thread_frame; /* offset of the pointer to the innermost
					  frame, or to a struct that has this
					  pointer at offset cframe_frame */
	uint64_t	 cframe_frame; /* offset of the pointer to the innermost
					  frame, in a struct to which a thread
					  state points; UINT64_MAX: no such
					  struct */
	uint64_t	 frame_code;
	uint64_t	 frame_instruction;
	uint64_t	 frame_previous;
	/* offset of the byte that says whether the frame was called from C;
	   UINT64_MAX: a frame without code object follows such a frame */
	uint64_t	 frame_entry;
	uint64_t	 frame_owner;
	uint64_t	 frame_locals;
	uint64_t	 code_locals; /* offset of the tuple of variable
					 names */
	uint64_t	 code_file;
	uint64_t	 code_name;
	uint64_t	 code_lines;
	uint64_t	 code_first;
	uint64_t	 code_code;
	uint64_t	 ascii;	/* offset of the characters of an ASCII
				   string */
	uint64_t	 compact;
};

/* offsets.c */
bool		 pyoffsets_get(struct pyoffsets *o, struct target *t,
		    uint64_t runtime, unsigned int version);

/* code.c */
bool		 pycode_get(struct pyframe *f, struct target *t,
		    const struct pyoffsets *o, uint64_t code,
		    uint64_t instruction);

/* text.c */
char		*pystring_get(struct target *t, const struct pyoffsets *o,
		    uint64_t addr);
bool		 pystring_put(struct buf *b, struct target *t,
		    const struct pyoffsets *o, uint64_t addr);
bool		 pybytes_put(struct buf *b, struct target *t, uint64_t addr);

/* locals.c */
void		 pylocals_get(struct pyframe *f, struct target *t,
		    const struct pyoffsets *o, uint64_t addr, uint64_t code);

#endif
