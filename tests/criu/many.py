"""many.py DIR N KILOBYTES: make images of N processes, each with KILOBYTES of
memory, of which no two kilobytes are the same."""
import random
import sys

from criuasm import Images, HEAP, PAGE, entry, image, vma


def main(path, n, kb):
    pages = kb * 1024 // PAGE
    im = Images()
    im.vmas = [v for v in im.vmas if v[0][1] != HEAP] + [
        vma(HEAP, HEAP + pages * PAGE, 0x221)]
    im.vmas.sort(key=lambda v: v[0][1])
    im.mm()
    own = {name: im.f.pop(name) for name in list(im.f) if '-7.' in name}
    im.f.pop('pages-3.img')
    first = 1000
    im.f['pstree.img'] = image('pstree', *(
        [(1, first + i), (2, first if i else 0), (3, first), (4, first),
         (5, first + i)] for i in range(n)))
    im.f['core-8.img'] = im.f['core-9.img'] = None
    for i in range(n):
        for name, data in own.items():
            im.f[name.replace('-7.', '-%d.' % (first + i))] = data
        im.f['pagemap-%d.img' % (first + i)] = image(
            'pagemap', [(1, first + i)], entry(HEAP, pages, 6))
        im.f['pages-%d.img' % (first + i)] = random.Random(i).randbytes(
            pages * PAGE)
    im.write(path)


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
