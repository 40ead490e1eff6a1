/* SPDX-License-Identifier: Apache-2.0 */
/* Walking trees; see tree.h. */
#include "stores/file/tree.h"

#include "base/alloc.h"

#include <string.h>

/* ---- Sets of pages ---- */

bool
lbx__page_set_init(lbx__page_set *set, uint64_t count)
{
    set->count = count;
    set->bits = lbx__zalloc(NULL, (size_t)(count / 8 + 1));
    return set->bits != NULL;
}

void
lbx__page_set_fini(lbx__page_set *set)
{
    if (set->bits)
        lbx__free(NULL, set->bits, (size_t)(set->count / 8 + 1));
    set->bits = NULL;
}

bool
lbx__page_set_has(const lbx__page_set *set, uint64_t page)
{
    return set->bits && page < set->count &&
           (set->bits[page / 8] >> page % 8 & 1);
}

bool
lbx__page_set_add(lbx__page_set *set, uint64_t page)
{
    if (page >= set->count || lbx__page_set_has(set, page))
        return false;
    set->bits[page / 8] = (uint8_t)(set->bits[page / 8] | 1 << page % 8);
    return true;
}

/* ---- Keys ---- */

int
lbx__bytes_compare(lbx__bytes a, lbx__bytes b)
{
    const size_t both = a.size < b.size ? a.size : b.size;
    const int order = both > 0 ? memcmp(a.data, b.data, both) : 0;

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int
compare(const lbx__tree *tree, lbx__bytes a, lbx__bytes b)
{
    uint64_t one, other;

    if (!tree->by_number || a.size != 8 || b.size != 8)
        return lbx__bytes_compare(a, b);
    memcpy(&one, a.data, 8);
    memcpy(&other, b.data, 8);
    return (one > other) - (one < other);
}

/* ---- Levels ---- */

static lbx__page_kind
kind_of(const lbx__tree *tree, size_t level)
{
    return level + 1 == tree->root.depth ? LBX__LEAF : LBX__BRANCH;
}

/* Brings a page to a level: OK; CORRUPT; NO_MEMORY. */
static lbx_status
load(const lbx__tree *tree, lbx__path *path, size_t level, uint64_t page)
{
    uint8_t **bytes = &path->levels[level].bytes;
    lbx_status status;

    if (path->levels[level].page == page)
        return LBX_OK;
    if (!*bytes)
        *bytes = lbx__alloc(NULL, tree->pages->page_bytes, 8);
    if (!*bytes)
        return LBX_NO_MEMORY;
    path->levels[level].page = 0;
    status = lbx__page_read(tree->pages, page, kind_of(tree, level), *bytes);
    if (status != LBX_OK)
        return status;
    path->levels[level].page = page;
    path->levels[level].count = lbx__page_nodes(*bytes);
    path->levels[level].at = 0;
    return LBX_OK;
}

static lbx__node
node_at(const lbx__tree *tree, const lbx__path *path, size_t level, size_t i)
{
    return lbx__page_node(path->levels[level].bytes, kind_of(tree, level), i);
}

static lbx_status
read_value(const lbx__tree *tree, lbx__path *path, const lbx__node *node,
           lbx__bytes *ret)
{
    if (!node->is_far) {
        *ret = (lbx__bytes){node->data, node->size};
        return LBX_OK;
    }
    if (node->size > tree->pages->file_bytes)
        return LBX_CORRUPT;
    if (path->value_room < node->size) {
        lbx__free(NULL, path->value, path->value_room);
        path->value_room = 0;
        path->value = lbx__alloc(NULL, node->size, 8);
        if (!path->value)
            return LBX_NO_MEMORY;
        path->value_room = node->size;
    }
    *ret = (lbx__bytes){path->value, node->size};
    return lbx__pages_far(tree->pages, node->child, path->value, node->size);
}

void
lbx__tree_init(lbx__tree *tree, const lbx__pages *pages, const lbx__root *root)
{
    memset(tree, 0, sizeof(*tree));
    tree->pages = pages;
    tree->root = *root;
    tree->level = SIZE_MAX; // before the first
    tree->ended = root->page == UINT64_MAX;
}

static void
free_path(const lbx__tree *tree, lbx__path *path)
{
    for (size_t i = 0; i < LBX__TREE_DEEPEST; i++)
        lbx__free(NULL, path->levels[i].bytes, tree->pages->page_bytes);
    lbx__free(NULL, path->value, path->value_room);
}

void
lbx__tree_fini(lbx__tree *tree)
{
    if (!tree->pages)
        return;
    free_path(tree, &tree->walk);
    free_path(tree, &tree->find);
    memset(tree, 0, sizeof(*tree));
}

/* ---- Walking ---- */

/* What the parents of a level say about it: keys from `first` on, before `end`. */
static lbx__bad_page
bounds(const lbx__tree *tree, size_t level, uint64_t page)
{
    const lbx__path *path = &tree->walk;
    lbx__bad_page ret = {.number = page};

    for (size_t i = level; i-- > 0;) {
        const size_t at = path->levels[i].at;

        if (ret.first.size == 0 && at > 0)
            ret.first = node_at(tree, path, i, at).key;
        if (ret.end.size == 0 && at + 1 < path->levels[i].count)
            ret.end = node_at(tree, path, i, at + 1).key;
    }
    return ret;
}

/* P2: whether a page, just loaded, has a row where its parents say. */
static bool
belongs(const lbx__tree *tree, size_t level, const lbx__bad_page *where)
{
    const lbx__path *path = &tree->walk;
    const size_t from = kind_of(tree, level) == LBX__BRANCH; // 0 has no key

    for (size_t i = from; i < path->levels[level].count; i++) {
        const lbx__bytes key = node_at(tree, path, level, i).key;

        if ((where->first.size == 0 || compare(tree, key, where->first) >= 0) &&
            (where->end.size == 0 || compare(tree, key, where->end) < 0))
            return true;
    }
    return path->levels[level].count == from;
}

/* Goes down to a page: OK; CORRUPT, and it has been told; NO_MEMORY. */
static lbx_status
enter(lbx__tree *tree, size_t level, uint64_t page)
{
    const lbx__bad_page where = bounds(tree, level, page);
    lbx_status status;

    tree->walk.levels[level].page = 0; // read again, whatever is there
    status = load(tree, &tree->walk, level, page);
    if (status == LBX_OK && !belongs(tree, level, &where))
        status = LBX_CORRUPT;
    if (status == LBX_OK && tree->met && !lbx__page_set_add(tree->met, page))
        status = LBX_CORRUPT;
    if (status == LBX_OK && tree->entered++ >= tree->pages->there)
        status = LBX_CORRUPT; // P1, where nobody notes what was met
    if (status == LBX_CORRUPT && tree->bad)
        tree->bad(tree->context, &where);
    if (status != LBX_OK)
        return status;
    tree->level = level;
    if (kind_of(tree, level) == LBX__LEAF)
        tree->counted.leaves++;
    else
        tree->counted.branches++;
    return LBX_OK;
}

/* The next leaf, and its first row. */
static lbx_status
next_leaf(lbx__tree *tree)
{
    lbx_status status;

    if (tree->level == SIZE_MAX) {
        status = enter(tree, 0, tree->root.page);
        if (status != LBX_OK)
            return status == LBX_CORRUPT ? LBX_NOT_FOUND : status;
        if (tree->root.depth == 1)
            return LBX_OK;
    }
    for (;;) {
        const size_t level = tree->level;
        size_t *at = &tree->walk.levels[level].at;

        if (kind_of(tree, level) == LBX__LEAF ||
            *at >= tree->walk.levels[level].count) {
            if (level == 0)
                return LBX_NOT_FOUND;
            tree->level--;
            tree->walk.levels[level - 1].at++;
            continue;
        }
        status = enter(tree, level + 1,
                       node_at(tree, &tree->walk, level, *at).child);
        if (status == LBX_CORRUPT)
            ++*at;
        else if (status != LBX_OK || kind_of(tree, level + 1) == LBX__LEAF)
            return status;
    }
}

/* A far value: counted, met, read. */
static lbx_status
fetch(lbx__tree *tree, const lbx__node *node, lbx__tree_row *ret)
{
    const uint64_t span = lbx__pages_span(tree->pages, node->size);
    lbx_status status = read_value(tree, &tree->walk, node, &ret->value);

    ret->offset = node->child * tree->pages->page_bytes + LBX__PAGE_HEAD;
    tree->counted.overflows += span;
    for (uint64_t i = 0; tree->met && i < span; i++) {
        if (!lbx__page_set_add(tree->met, node->child + i))
            status = status == LBX_OK ? LBX_CORRUPT : status;
    }
    ret->is_lost = status == LBX_CORRUPT;
    return status == LBX_NO_MEMORY ? status : LBX_OK;
}

lbx_status
lbx__tree_next(lbx__tree *tree, lbx__tree_row *ret)
{
    const size_t leaf = (size_t)tree->root.depth - 1;
    lbx__path *path = &tree->walk;
    lbx__node node;

    if (tree->ended)
        return LBX_NOT_FOUND;
    if (tree->level == SIZE_MAX ||
        ++path->levels[leaf].at >= path->levels[leaf].count) {
        const lbx_status status = next_leaf(tree);

        if (status != LBX_OK) {
            tree->ended = true;
            return status;
        }
    }
    node = node_at(tree, path, leaf, path->levels[leaf].at);
    tree->counted.rows++;
    *ret = (lbx__tree_row){
        .key = node.key,
        .is_table = node.is_table,
        .page = path->levels[leaf].page,
    };
    if (node.is_far)
        return fetch(tree, &node, ret);
    ret->value = (lbx__bytes){node.data, node.size};
    ret->offset = path->levels[leaf].page * tree->pages->page_bytes +
                  (uint64_t)(node.data - path->levels[leaf].bytes);
    return LBX_OK;
}

void
lbx__tree_again(lbx__tree *tree)
{
    tree->level = SIZE_MAX;
    tree->entered = 0;
    tree->ended = tree->root.page == UINT64_MAX;
    tree->met = NULL;
    tree->bad = NULL;
}

bool
lbx__tree_is_whole(const lbx__tree *tree)
{
    return tree->counted.rows == tree->root.rows &&
           tree->counted.branches == tree->root.branches &&
           tree->counted.leaves == tree->root.leaves &&
           tree->counted.overflows == tree->root.overflows;
}

/* ---- Finding ---- */

lbx_status
lbx__tree_get(lbx__tree *tree, lbx__bytes key, lbx__bytes *ret)
{
    lbx__path *path = &tree->find;
    uint64_t page = tree->root.page;

    if (page == UINT64_MAX)
        return LBX_NOT_FOUND;
    for (size_t level = 0; level < tree->root.depth; level++) {
        const lbx_status status = load(tree, path, level, page);
        size_t i;

        if (status != LBX_OK)
            return status;
        if (kind_of(tree, level) == LBX__LEAF)
            break;
        for (i = path->levels[level].count - 1; i > 0; i--) {
            if (compare(tree, node_at(tree, path, level, i).key, key) <= 0)
                break;
        }
        page = node_at(tree, path, level, i).child;
    }
    // All of them: one that was damaged may be out of order.
    for (size_t i = 0; i < path->levels[tree->root.depth - 1].count; i++) {
        const lbx__node node =
            node_at(tree, path, (size_t)tree->root.depth - 1, i);

        if (compare(tree, node.key, key) == 0)
            return read_value(tree, path, &node, ret);
    }
    return LBX_NOT_FOUND;
}
