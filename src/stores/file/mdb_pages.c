/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of data.mdb, taken apart; see pages.h. */
#include "stores/file/mdb_pages.h"

#include "base/alloc.h"

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
pages_get16(const uint8_t *from)
{
    uint16_t number;

    memcpy(&number, from, sizeof(number));
    return number;
}

static uint32_t
pages_get32(const uint8_t *from)
{
    uint32_t number;

    memcpy(&number, from, sizeof(number));
    return number;
}

static uint64_t
pages_get64(const uint8_t *from)
{
    uint64_t number;

    memcpy(&number, from, sizeof(number));
    return number;
}

/* ---- Meta pages ---- */

static lbx__mdb_root
pages_unpack_root(const uint8_t *from)
{
    return (lbx__mdb_root){
        .depth = pages_get16(from + 6),
        .branches = pages_get64(from + 8),
        .leaves = pages_get64(from + 16),
        .overflows = pages_get64(from + 24),
        .rows = pages_get64(from + 32),
        .page = pages_get64(from + 40),
    };
}

static bool
pages_root_is_sane(const lbx__mdb_pages *pages, const lbx__mdb_root *root)
{
    if (root->page == UINT64_MAX)
        return root->rows == 0 && root->depth == 0 && root->branches == 0 &&
               root->leaves == 0 && root->overflows == 0;
    return root->page >= 2 && root->page < pages->count && root->depth >= 1 &&
           root->depth <= LBX__MDB_TREE_MAX_DEPTH && root->leaves >= 1 &&
           root->branches < pages->count && root->leaves < pages->count &&
           root->overflows < pages->count;
}

bool
lbx__mdb_pages_unpack_root(const lbx__mdb_pages *pages, const uint8_t *from,
                           lbx__mdb_root *ret)
{
    *ret = pages_unpack_root(from);
    return pages_root_is_sane(pages, ret);
}

/* One meta page: OK; NEWER; CORRUPT, and whether it is its trees that make no
 * sense. */
static lbx_status
pages_unpack_meta(const uint8_t *page, uint64_t number, lbx__mdb_pages *ret,
                  bool *ret_trees)
{
    const uint8_t *meta = page + LBX__MDB_PAGE_HEAD;
    const uint32_t page_bytes = pages_get32(meta + 24);

    *ret_trees = false;
    if (pages_get64(page) != number || pages_get16(page + 10) != META_FLAG ||
        pages_get32(meta) != (uint32_t)MAGIC)
        return LBX_CORRUPT;
    if (pages_get32(meta + 4) != VERSION)
        return pages_get32(meta + 4) > VERSION ? LBX_NEWER : LBX_CORRUPT;
    if (page_bytes < 512 || page_bytes > LBX__MDB_PAGE_MAX ||
        (page_bytes & (page_bytes - 1)) != 0)
        return LBX_CORRUPT;
    ret->page_bytes = page_bytes;
    ret->map_bytes = pages_get64(meta + 16);
    ret->count = pages_get64(meta + 120) + 1;
    ret->transaction = pages_get64(meta + 128);
    ret->unused = pages_unpack_root(meta + 24);
    ret->main = pages_unpack_root(meta + 72);
    if (ret->count < 2 || ret->count > ret->map_bytes / page_bytes)
        return LBX_CORRUPT;
    *ret_trees = !pages_root_is_sane(ret, &ret->unused) ||
                 !pages_root_is_sane(ret, &ret->main);
    return *ret_trees ? LBX_CORRUPT : LBX_OK;
}

/* Both, as two transactions in a row have left them. */
static bool
pages_metas_match(const lbx__mdb_pages *even, const lbx__mdb_pages *odd)
{
    if (even->transaction == 0 && odd->transaction == 0)
        return true; // a new file
    return even->transaction % 2 == 0 && odd->transaction % 2 == 1 &&
           (even->transaction + 1 == odd->transaction ||
            odd->transaction + 1 == even->transaction);
}

/* When LMDB cannot write a meta page it writes the numbers back that were
 * there, but not the trees. They are not read: the other page is the later
 * one. */
static bool
pages_meta_is_restored(const lbx__mdb_pages metas[2], const bool trees[2],
                       int good)
{
    const uint64_t bad = metas[!good].transaction;

    return trees[!good] && pages_metas_match(&metas[0], &metas[1]) &&
           metas[0].page_bytes == metas[1].page_bytes &&
           (bad < metas[good].transaction || (bad == 0 && good == 0));
}

static lbx_status
pages_choose_meta(const lbx__mdb_pages metas[2], const lbx_status found[2],
                  const bool trees[2], lbx__mdb_pages *ret,
                  const char **ret_why)
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
        if (pages_meta_is_restored(metas, trees, good))
            return LBX_OK;
        *ret_why = "a meta page is damaged: what is left may be older";
        return LBX_CORRUPT;
    }
    *ret = metas[metas[1].transaction > metas[0].transaction];
    if (!pages_metas_match(&metas[0], &metas[1]) ||
        metas[0].page_bytes != metas[1].page_bytes) {
        *ret_why = "the meta pages do not belong together";
        return LBX_CORRUPT;
    }
    return LBX_OK;
}

/* The offset of the second meta page: one page, by the size in the first; if
 * that is damaged, the page size of most machines. */
static size_t
pages_second_meta_at(const uint8_t *page)
{
    const uint32_t said = pages_get32(page + LBX__MDB_PAGE_HEAD + 24);

    return said >= 512 && said <= LBX__MDB_PAGE_MAX && (said & (said - 1)) == 0
               ? said
               : 4096;
}

lbx_status
lbx__mdb_pages_open(lbx__mdb_pages *pages, const lbx__io *io, int fd,
                    const char **ret_why)
{
    uint8_t page[LBX__MDB_PAGE_HEAD + META_BYTES];
    lbx__mdb_pages metas[2];
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
        found[i] = status == LBX_OK
                       ? pages_unpack_meta(page, i, &metas[i], &trees[i])
                       : status;
        if (i == 0)
            at = pages_second_meta_at(page);
    }
    status = pages_choose_meta(metas, found, trees, pages, ret_why);
    pages->io = io;
    pages->fd = fd;
    pages->file_bytes = (uint64_t)file.st_size;
    if (pages->count == 0)
        return status;
    pages->there = pages->file_bytes / pages->page_bytes;
    if (pages->there > pages->count)
        pages->there = pages->count;
    if (status == LBX_OK && pages->there < pages->count) {
        *ret_why = "it is shorter than its meta page says";
        status = LBX_CORRUPT;
    }
    return status;
}

/* ---- Pages ---- */

size_t
lbx__mdb_pages_nodes(const uint8_t *page)
{
    return (pages_get16(page + 12) - (size_t)LBX__MDB_PAGE_HEAD) / 2;
}

lbx__mdb_node
lbx__mdb_pages_node(const uint8_t *page, lbx__mdb_page_kind kind, size_t i)
{
    const uint8_t *at = page + pages_get16(page + LBX__MDB_PAGE_HEAD + 2 * i);
    const uint16_t flags = pages_get16(at + 4);
    const size_t low = pages_get16(at) | (size_t)pages_get16(at + 2) << 16;
    lbx__mdb_node node = {.key = {at + NODE_HEAD, pages_get16(at + 6)}};

    node.data = at + NODE_HEAD + node.key.size;
    if (kind == LBX__MDB_BRANCH) {
        node.child = low | (uint64_t)flags << 32;
        return node;
    }
    node.size = low;
    node.is_table = flags == NODE_TABLE;
    node.is_far = flags == NODE_FAR;
    if (node.is_far)
        node.child = pages_get64(node.data);
    return node;
}

uint64_t
lbx__mdb_pages_span(const lbx__mdb_pages *pages, size_t size)
{
    return (size + LBX__MDB_PAGE_HEAD + pages->page_bytes - 1) /
           pages->page_bytes;
}

/* Whether a node lies inside its page, and what it points to in the file. */
static bool
pages_node_is_sane(const lbx__mdb_pages *pages, const uint8_t *page,
                   lbx__mdb_page_kind kind, size_t i)
{
    const size_t at = pages_get16(page + LBX__MDB_PAGE_HEAD + 2 * i);
    lbx__mdb_node node;
    size_t inside;

    if (at < pages_get16(page + 14) || at + NODE_HEAD > pages->page_bytes)
        return false;
    if (at + NODE_HEAD + pages_get16(page + at + 6) > pages->page_bytes ||
        pages_get16(page + at + 6) > KEY_MOST)
        return false;
    if (kind == LBX__MDB_LEAF && pages_get16(page + at + 4) == NODE_FAR &&
        at + NODE_HEAD + pages_get16(page + at + 6) + 8 > pages->page_bytes)
        return false;
    node = lbx__mdb_pages_node(page, kind, i);
    if (kind == LBX__MDB_BRANCH)
        return node.child >= 2 && node.child < pages->count;
    if (node.key.size == 0 || pages_get16(page + at + 4) > NODE_TABLE ||
        (node.is_table && node.size != LBX__MDB_ROOT_BYTES))
        return false;
    if (node.is_far)
        return node.child >= 2 && node.child < pages->count &&
               lbx__mdb_pages_span(pages, node.size) <=
                   pages->count - node.child;
    inside = at + NODE_HEAD + node.key.size;
    return node.size <= pages->page_bytes - inside;
}

lbx_status
lbx__mdb_pages_read(const lbx__mdb_pages *pages, uint64_t number,
                    lbx__mdb_page_kind kind, uint8_t *to)
{
    const size_t size =
        kind == LBX__MDB_OVERFLOW ? LBX__MDB_PAGE_HEAD : pages->page_bytes;
    size_t lower, upper;

    if (number < 2 || number >= pages->count ||
        lbx__io_read_all(pages->io, pages->fd, to, size,
                         number * pages->page_bytes) != LBX_OK)
        return LBX_CORRUPT;
    if (pages_get64(to) != number || pages_get16(to + 10) != (uint16_t)kind)
        return LBX_CORRUPT;
    if (kind == LBX__MDB_OVERFLOW)
        return LBX_OK;
    lower = pages_get16(to + 12);
    upper = pages_get16(to + 14);
    if (lower < LBX__MDB_PAGE_HEAD + 2 || lower % 2 != 0 || lower > upper ||
        upper > pages->page_bytes)
        return LBX_CORRUPT;
    for (size_t i = 0; i < lbx__mdb_pages_nodes(to); i++) {
        if (!pages_node_is_sane(pages, to, kind, i))
            return LBX_CORRUPT;
    }
    return LBX_OK;
}

lbx_status
lbx__mdb_pages_read_far(const lbx__mdb_pages *pages, uint64_t number, void *to,
                        size_t size)
{
    uint8_t head[LBX__MDB_PAGE_HEAD];
    lbx_status status =
        lbx__mdb_pages_read(pages, number, LBX__MDB_OVERFLOW, head);

    if (status != LBX_OK ||
        pages_get32(head + 12) != lbx__mdb_pages_span(pages, size))
        return LBX_CORRUPT;
    status = lbx__io_read_all(pages->io, pages->fd, to, size,
                              number * pages->page_bytes + LBX__MDB_PAGE_HEAD);
    return status == LBX_OK ? LBX_OK : LBX_CORRUPT;
}

/* ---- Sets of pages ---- */

bool
lbx__mdb_pages_set_init(lbx__mdb_page_set *set, uint64_t count)
{
    set->count = count;
    set->bits = lbx__zalloc(NULL, (size_t)(count / 8 + 1));
    return set->bits != NULL;
}

void
lbx__mdb_pages_set_fini(lbx__mdb_page_set *set)
{
    if (set->bits)
        lbx__free(NULL, set->bits, (size_t)(set->count / 8 + 1));
    set->bits = NULL;
}

bool
lbx__mdb_pages_set_has(const lbx__mdb_page_set *set, uint64_t page)
{
    return set->bits && page < set->count &&
           (set->bits[page / 8] >> page % 8 & 1);
}

bool
lbx__mdb_pages_set_add(lbx__mdb_page_set *set, uint64_t page)
{
    if (page >= set->count || lbx__mdb_pages_set_has(set, page))
        return false;
    set->bits[page / 8] = (uint8_t)(set->bits[page / 8] | 1 << page % 8);
    return true;
}
