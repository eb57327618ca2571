/*
 * The auxiliary vector, getauxval(3): pairs of type and value, which are words
 * of the process in the byte order of its machine. It shows the size of these
 * words, and of a page.
 */
#include "state.h"

#include <elf.h>

/*
 * Return the value that auxv has for this type, as getauxval(3) does, or 0 if
 * there is none. auxv is an auxiliary vector of len bytes, from machine m. word
 * is the number of bytes in a word, 4 or 8.
 */
uint64_t
auxv_get(const struct machine *m, const void *auxv, size_t len, size_t word,
    uint64_t type)
{
	const uint8_t *p = auxv;
	uint64_t at;

	for (; len >= 2 * word; p += 2 * word, len -= 2 * word) {
		if ((at = machine_get(m, p, word)) == type)
			return machine_get(m, p + word, word);
		if (at == AT_NULL)
			break;
	}
	return 0;
}

/*
 * Return the number of bytes in a word of auxv, 4 or 8. auxv is an auxiliary
 * vector of len bytes, from machine m. The number follows from the recorded
 * size of a program header. Return 0 if it is unknown.
 */
size_t
auxv_word(const struct machine *m, const void *auxv, size_t len)
{
	if (auxv_get(m, auxv, len, 8, AT_PHENT) == sizeof(Elf64_Phdr))
		return 8;
	return auxv_get(m, auxv, len, 4, AT_PHENT) == sizeof(Elf32_Phdr) ?
	    4 : 0;
}

/*
 * Return the page size in bytes (AT_PAGESZ) from auxv. auxv is an auxiliary
 * vector of len bytes, from machine m. Return 0 if there is no page size or it
 * is invalid.
 */
uint64_t
auxv_page(const struct machine *m, const void *auxv, size_t len)
{
	uint64_t size;
	size_t w;

	w = auxv_word(m, auxv, len);
	size = auxv_get(m, auxv, len, w == 0 ? m->word : w, AT_PAGESZ);
	return size != 0 && machine_page(m, size) == size ? size : 0;
}
