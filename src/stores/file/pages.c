/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of data.mdb, taken apart; see pages.h. */
#include "stores/file/pages.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert(sizeof(size_t) == 8, "LMDB's numbers are those of pages.h");

enum {
    MAGIC = 0xBEEFC0DE - (1LL << 32), /* as an int has it */
    VERSION = 1,
    META_FLAG = 8,
    META_BYTES = 136,
    NODE_HEAD = 8,
    NODE_FAR = 1,
    NODE_TABLE = 2,
    KEY_MOST = 511
};

static uint16_t
get16(const uint8_t *from)
{
    uint16_t number;

    memcpy(&number, from, sizeof(number));
    return number;
}

static uint32_t
get32(const uint8_t *from)
{
    uint32_t number;

    memcpy(&number, from, sizeof(number));
    return number;
}

static uint64_t
get64(const uint8_t *from)
{
    uint64_t number;

    memcpy(&number, from, sizeof(number));
    return number;
}

/* ---- Meta pages ---- */

static lbx__root
unpack_root(const uint8_t *from)
{
    return (lbx__root){
        .depth = get16(from + 6),
        .branches = get64(from + 8),
        .leaves = get64(from + 16),
        .overflows = get64(from + 24),
        .rows = get64(from + 32),
        .page = get64(from + 40),
    };
}

static bool
root_makes_sense(const lbx__pages *pages, const lbx__root *root)
{
    if (root->page == UINT64_MAX)
        return root->rows == 0 && root->depth == 0 && root->branches == 0 &&
               root->leaves == 0 && root->overflows == 0;
    return root->page >= 2 && root->page < pages->count && root->depth >= 1 &&
           root->depth <= LBX__TREE_DEEPEST && root->leaves >= 1 &&
           root->branches < pages->count && root->leaves < pages->count &&
           root->overflows < pages->count;
}

bool
lbx__root_unpack(const lbx__pages *pages, const uint8_t *from, lbx__root *ret)
{
    *ret = unpack_root(from);
    return root_makes_sense(pages, ret);
}

/* One meta page: OK; NEWER; CORRUPT, and whether it is its trees that make no
 * sense. */
static lbx_status
unpack_meta(const uint8_t *page, uint64_t number, lbx__pages *ret,
            bool *ret_trees)
{
    const uint8_t *meta = page + LBX__PAGE_HEAD;
    const uint32_t page_bytes = get32(meta + 24);

    *ret_trees = false;
    if (get64(page) != number || get16(page + 10) != META_FLAG ||
        get32(meta) != (uint32_t)MAGIC)
        return LBX_CORRUPT;
    if (get32(meta + 4) != VERSION)
        return get32(meta + 4) > VERSION ? LBX_NEWER : LBX_CORRUPT;
    if (page_bytes < 512 || page_bytes > LBX__PAGE_MOST ||
        (page_bytes & (page_bytes - 1)) != 0)
        return LBX_CORRUPT;
    ret->page_bytes = page_bytes;
    ret->map_bytes = get64(meta + 16);
    ret->count = get64(meta + 120) + 1;
    ret->transaction = get64(meta + 128);
    ret->unused = unpack_root(meta + 24);
    ret->main = unpack_root(meta + 72);
    if (ret->count < 2 || ret->count > ret->map_bytes / page_bytes)
        return LBX_CORRUPT;
    *ret_trees = !root_makes_sense(ret, &ret->unused) ||
                 !root_makes_sense(ret, &ret->main);
    return *ret_trees ? LBX_CORRUPT : LBX_OK;
}

/* Both, as two transactions in a row have left them. */
static bool
are_neighbours(const lbx__pages *even, const lbx__pages *odd)
{
    if (even->transaction == 0 && odd->transaction == 0)
        return true; // a new file
    return even->transaction % 2 == 0 && odd->transaction % 2 == 1 &&
           (even->transaction + 1 == odd->transaction ||
            odd->transaction + 1 == even->transaction);
}

/* When LMDB cannot write a meta page it writes the numbers back that were there,
 * but not the trees. Nobody reads them: the other page is the later one. */
static bool
is_written_back(const lbx__pages metas[2], const bool trees[2], int good)
{
    const uint64_t bad = metas[!good].transaction;

    return trees[!good] && are_neighbours(&metas[0], &metas[1]) &&
           metas[0].page_bytes == metas[1].page_bytes &&
           (bad < metas[good].transaction || (bad == 0 && good == 0));
}

static lbx_status
choose(const lbx__pages metas[2], const lbx_status found[2],
       const bool trees[2], lbx__pages *ret, const char **ret_why)
{
    if (found[0] == LBX_NEWER || found[1] == LBX_NEWER) {
        *ret_why = "it was written by a newer LMDB";
        return LBX_NEWER;
    }
    if (found[0] != LBX_OK && found[1] != LBX_OK) {
        *ret_why = "both meta pages are damaged";
        return LBX_CORRUPT;
    }
    if (found[0] != LBX_OK || found[1] != LBX_OK) {
        const int good = found[0] != LBX_OK;

        *ret = metas[good];
        if (is_written_back(metas, trees, good))
            return LBX_OK;
        *ret_why = "a meta page is damaged: what is left may be older";
        return LBX_CORRUPT;
    }
    *ret = metas[metas[1].transaction > metas[0].transaction];
    if (!are_neighbours(&metas[0], &metas[1]) ||
        metas[0].page_bytes != metas[1].page_bytes) {
        *ret_why = "the meta pages do not belong together";
        return LBX_CORRUPT;
    }
    return LBX_OK;
}

/* The second meta page is where the first says it is; a damaged first one says
 * nothing, and then it is where most machines have it. */
static size_t
second_at(const uint8_t *page)
{
    const uint32_t said = get32(page + LBX__PAGE_HEAD + 24);

    return said >= 512 && said <= LBX__PAGE_MOST && (said & (said - 1)) == 0
               ? said
               : 4096;
}

lbx_status
lbx__pages_open(lbx__pages *pages, const lbx__io *io, int fd,
                const char **ret_why)
{
    uint8_t page[LBX__PAGE_HEAD + META_BYTES];
    lbx__pages metas[2];
    bool trees[2] = {false, false};
    lbx_status found[2], status = LBX_OK;
    struct stat file;
    uint64_t at = 0;

    memset(pages, 0, sizeof(*pages));
    if (fstat(fd, &file) < 0)
        return lbx__io_status(-errno);
    if (file.st_size == 0)
        return LBX_NOT_FOUND;
    for (uint64_t i = 0; i < 2; i++) {
        memset(page, 0, sizeof(page));
        if ((uint64_t)file.st_size >= at + sizeof(page))
            status = lbx__io_read_all(io, fd, page, sizeof(page), at);
        found[i] = status == LBX_OK ? unpack_meta(page, i, &metas[i], &trees[i])
                                    : status;
        if (i == 0)
            at = second_at(page);
    }
    status = choose(metas, found, trees, pages, ret_why);
    pages->io = io;
    pages->fd = fd;
    pages->file_bytes = (uint64_t)file.st_size;
    if (pages->count == 0)
        return status;
    pages->there = pages->file_bytes / pages->page_bytes;
    if (pages->there > pages->count)
        pages->there = pages->count;
    if (status == LBX_OK && pages->there < pages->count) {
        *ret_why = "it is shorter than it says";
        status = LBX_CORRUPT;
    }
    return status;
}

/* ---- Pages ---- */

size_t
lbx__page_nodes(const uint8_t *page)
{
    return (get16(page + 12) - (size_t)LBX__PAGE_HEAD) / 2;
}

lbx__node
lbx__page_node(const uint8_t *page, lbx__page_kind kind, size_t i)
{
    const uint8_t *at = page + get16(page + LBX__PAGE_HEAD + 2 * i);
    const uint16_t flags = get16(at + 4);
    const size_t low = get16(at) | (size_t)get16(at + 2) << 16;
    lbx__node node = {.key = {at + NODE_HEAD, get16(at + 6)}};

    node.data = at + NODE_HEAD + node.key.size;
    if (kind == LBX__BRANCH) {
        node.child = low | (uint64_t)flags << 32;
        return node;
    }
    node.size = low;
    node.is_table = flags == NODE_TABLE;
    node.is_far = flags == NODE_FAR;
    if (node.is_far)
        node.child = get64(node.data);
    return node;
}

uint64_t
lbx__pages_span(const lbx__pages *pages, size_t size)
{
    return (size + LBX__PAGE_HEAD + pages->page_bytes - 1) / pages->page_bytes;
}

/* Whether a node lies inside its page, and what it points to in the file. */
static bool
node_makes_sense(const lbx__pages *pages, const uint8_t *page,
                 lbx__page_kind kind, size_t i)
{
    const size_t at = get16(page + LBX__PAGE_HEAD + 2 * i);
    lbx__node node;
    size_t inside;

    if (at < get16(page + 14) || at + NODE_HEAD > pages->page_bytes)
        return false;
    if (at + NODE_HEAD + get16(page + at + 6) > pages->page_bytes ||
        get16(page + at + 6) > KEY_MOST)
        return false;
    if (kind == LBX__LEAF && get16(page + at + 4) == NODE_FAR &&
        at + NODE_HEAD + get16(page + at + 6) + 8 > pages->page_bytes)
        return false;
    node = lbx__page_node(page, kind, i);
    if (kind == LBX__BRANCH)
        return node.child >= 2 && node.child < pages->count;
    if (node.key.size == 0 || get16(page + at + 4) > NODE_TABLE ||
        (node.is_table && node.size != LBX__ROOT_BYTES))
        return false;
    if (node.is_far)
        return node.child >= 2 && node.child < pages->count &&
               lbx__pages_span(pages, node.size) <= pages->count - node.child;
    inside = at + NODE_HEAD + node.key.size;
    return node.size <= pages->page_bytes - inside;
}

lbx_status
lbx__page_read(const lbx__pages *pages, uint64_t number, lbx__page_kind kind,
               uint8_t *to)
{
    const size_t size =
        kind == LBX__OVERFLOW ? LBX__PAGE_HEAD : pages->page_bytes;
    size_t lower, upper;

    if (number < 2 || number >= pages->count ||
        lbx__io_read_all(pages->io, pages->fd, to, size,
                         number * pages->page_bytes) != LBX_OK)
        return LBX_CORRUPT;
    if (get64(to) != number || get16(to + 10) != (uint16_t)kind)
        return LBX_CORRUPT;
    if (kind == LBX__OVERFLOW)
        return LBX_OK;
    lower = get16(to + 12);
    upper = get16(to + 14);
    if (lower < LBX__PAGE_HEAD + 2 || lower % 2 != 0 || lower > upper ||
        upper > pages->page_bytes)
        return LBX_CORRUPT;
    for (size_t i = 0; i < lbx__page_nodes(to); i++) {
        if (!node_makes_sense(pages, to, kind, i))
            return LBX_CORRUPT;
    }
    return LBX_OK;
}

lbx_status
lbx__pages_far(const lbx__pages *pages, uint64_t number, void *to, size_t size)
{
    uint8_t head[LBX__PAGE_HEAD];
    lbx_status status = lbx__page_read(pages, number, LBX__OVERFLOW, head);

    if (status != LBX_OK || get32(head + 12) != lbx__pages_span(pages, size))
        return LBX_CORRUPT;
    status = lbx__io_read_all(pages->io, pages->fd, to, size,
                              number * pages->page_bytes + LBX__PAGE_HEAD);
    return status == LBX_OK ? LBX_OK : LBX_CORRUPT;
}
