/* SPDX-License-Identifier: Apache-2.0 */
/* Walking trees; see tree.h. */
#include "stores/file/mdb_tree.h"

#include "base/alloc.h"
#include "stores/file/engine.h"

#include <string.h>

/* ---- Keys ---- */

static int
tree_compare(const lbx__mdb_tree *tree, lbx__bytes a, lbx__bytes b)
{
    uint64_t one, other;

    if (!tree->by_number || a.size != 8 || b.size != 8)
        return lbx__engine_compare(a, b);
    memcpy(&one, a.data, 8);
    memcpy(&other, b.data, 8);
    return (one > other) - (one < other);
}

/* ---- Levels ---- */

static lbx__mdb_page_kind
tree_kind(const lbx__mdb_tree *tree, size_t level)
{
    return level + 1 == tree->root.depth ? LBX__MDB_LEAF : LBX__MDB_BRANCH;
}

/* Brings a page to a level: OK; CORRUPT; NO_MEMORY. */
static lbx_status
tree_load(const lbx__mdb_tree *tree, lbx__mdb_path *path, size_t level,
          uint64_t page)
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
    status =
        lbx__mdb_pages_read(tree->pages, page, tree_kind(tree, level), *bytes);
    if (status != LBX_OK)
        return status;
    path->levels[level].page = page;
    path->levels[level].count = lbx__mdb_pages_nodes(*bytes);
    path->levels[level].at = 0;
    return LBX_OK;
}

static lbx__mdb_node
tree_node(const lbx__mdb_tree *tree, const lbx__mdb_path *path, size_t level,
          size_t i)
{
    return lbx__mdb_pages_node(path->levels[level].bytes,
                               tree_kind(tree, level), i);
}

static lbx_status
tree_read_value(const lbx__mdb_tree *tree, lbx__mdb_path *path,
                const lbx__mdb_node *node, lbx__bytes *ret)
{
    if (!node->is_far) {
        *ret = (lbx__bytes){node->data, node->size};
        return LBX_OK;
    }
    if (node->size > tree->pages->file_bytes)
        return LBX_CORRUPT;
    if (path->value_size < node->size) {
        lbx__free(NULL, path->value, path->value_size);
        path->value_size = 0;
        path->value = lbx__alloc(NULL, node->size, 8);
        if (!path->value)
            return LBX_NO_MEMORY;
        path->value_size = node->size;
    }
    *ret = (lbx__bytes){path->value, node->size};
    return lbx__mdb_pages_read_far(tree->pages, node->child, path->value,
                                   node->size);
}

void
lbx__mdb_tree_init(lbx__mdb_tree *tree, const lbx__mdb_pages *pages,
                   const lbx__mdb_root *root)
{
    memset(tree, 0, sizeof(*tree));
    tree->pages = pages;
    tree->root = *root;
    tree->level = SIZE_MAX; // before the first
    tree->ended = root->page == UINT64_MAX;
}

static void
tree_free_path(const lbx__mdb_tree *tree, lbx__mdb_path *path)
{
    for (size_t i = 0; i < LBX__MDB_TREE_MAX_DEPTH; i++)
        lbx__free(NULL, path->levels[i].bytes, tree->pages->page_bytes);
    lbx__free(NULL, path->value, path->value_size);
}

void
lbx__mdb_tree_fini(lbx__mdb_tree *tree)
{
    if (!tree->pages)
        return;
    tree_free_path(tree, &tree->walk);
    tree_free_path(tree, &tree->find);
    memset(tree, 0, sizeof(*tree));
}

/* ---- Walking ---- */

/* The bounds that the parents of a level give it: from `first` on, before
 * `end`. */
static lbx__mdb_bad_page
tree_bounds(const lbx__mdb_tree *tree, size_t level, uint64_t page)
{
    const lbx__mdb_path *path = &tree->walk;
    lbx__mdb_bad_page ret = {.number = page};

    for (size_t i = level; i-- > 0;) {
        const size_t at = path->levels[i].at;

        if (ret.first.size == 0 && at > 0)
            ret.first = tree_node(tree, path, i, at).key;
        if (ret.end.size == 0 && at + 1 < path->levels[i].count)
            ret.end = tree_node(tree, path, i, at + 1).key;
    }
    return ret;
}

/* MTREE-2: whether a page, just loaded, has a row inside its tree_bounds. */
static bool
tree_belongs(const lbx__mdb_tree *tree, size_t level,
             const lbx__mdb_bad_page *where)
{
    const lbx__mdb_path *path = &tree->walk;
    const size_t from =
        tree_kind(tree, level) == LBX__MDB_BRANCH; // 0 has no key

    for (size_t i = from; i < path->levels[level].count; i++) {
        const lbx__bytes key = tree_node(tree, path, level, i).key;

        if ((where->first.size == 0 ||
             tree_compare(tree, key, where->first) >= 0) &&
            (where->end.size == 0 || tree_compare(tree, key, where->end) < 0))
            return true;
    }
    return path->levels[level].count == from;
}

/* Goes down to a page: OK; CORRUPT, reported; NO_MEMORY. */
static lbx_status
tree_enter(lbx__mdb_tree *tree, size_t level, uint64_t page)
{
    const lbx__mdb_bad_page where = tree_bounds(tree, level, page);
    lbx_status status;

    tree->walk.levels[level].page = 0; // read again, whatever is there
    status = tree_load(tree, &tree->walk, level, page);
    if (status == LBX_OK && !tree_belongs(tree, level, &where))
        status = LBX_CORRUPT;
    if (status == LBX_OK && tree->met &&
        !lbx__mdb_pages_set_add(tree->met, page))
        status = LBX_CORRUPT;
    if (status == LBX_OK && tree->entered++ >= tree->pages->there)
        status = LBX_CORRUPT; // MTREE-1, when pages are not noted
    if (status == LBX_CORRUPT && tree->bad)
        tree->bad(tree->context, &where);
    if (status != LBX_OK)
        return status;
    tree->level = level;
    if (tree_kind(tree, level) == LBX__MDB_LEAF)
        tree->counted.leaves++;
    else
        tree->counted.branches++;
    return LBX_OK;
}

/* The next leaf, and its first row. */
static lbx_status
tree_next_leaf(lbx__mdb_tree *tree)
{
    lbx_status status;

    if (tree->level == SIZE_MAX) {
        status = tree_enter(tree, 0, tree->root.page);
        if (status != LBX_OK)
            return status == LBX_CORRUPT ? LBX_NOT_FOUND : status;
        if (tree->root.depth == 1)
            return LBX_OK;
    }
    for (;;) {
        const size_t level = tree->level;
        size_t *at = &tree->walk.levels[level].at;

        if (tree_kind(tree, level) == LBX__MDB_LEAF ||
            *at >= tree->walk.levels[level].count) {
            if (level == 0)
                return LBX_NOT_FOUND;
            tree->level--;
            tree->walk.levels[level - 1].at++;
            continue;
        }
        status = tree_enter(tree, level + 1,
                            tree_node(tree, &tree->walk, level, *at).child);
        if (status == LBX_CORRUPT)
            ++*at;
        else if (status != LBX_OK ||
                 tree_kind(tree, level + 1) == LBX__MDB_LEAF)
            return status;
    }
}

/* A far value: counted, met, read. */
static lbx_status
tree_fetch(lbx__mdb_tree *tree, const lbx__mdb_node *node,
           lbx__mdb_tree_row *ret)
{
    const uint64_t span = lbx__mdb_pages_span(tree->pages, node->size);
    lbx_status status = tree_read_value(tree, &tree->walk, node, &ret->value);

    ret->offset = node->child * tree->pages->page_bytes + LBX__MDB_PAGE_HEAD;
    tree->counted.overflows += span;
    for (uint64_t i = 0; tree->met && i < span; i++) {
        if (!lbx__mdb_pages_set_add(tree->met, node->child + i))
            status = status == LBX_OK ? LBX_CORRUPT : status;
    }
    ret->is_lost = status == LBX_CORRUPT;
    return status == LBX_NO_MEMORY ? status : LBX_OK;
}

lbx_status
lbx__mdb_tree_next(lbx__mdb_tree *tree, lbx__mdb_tree_row *ret)
{
    const size_t leaf = (size_t)tree->root.depth - 1;
    lbx__mdb_path *path = &tree->walk;
    lbx__mdb_node node;

    if (tree->ended)
        return LBX_NOT_FOUND;
    if (tree->level == SIZE_MAX ||
        ++path->levels[leaf].at >= path->levels[leaf].count) {
        const lbx_status status = tree_next_leaf(tree);

        if (status != LBX_OK) {
            tree->ended = true;
            return status;
        }
    }
    node = tree_node(tree, path, leaf, path->levels[leaf].at);
    tree->counted.rows++;
    *ret = (lbx__mdb_tree_row){
        .key = node.key,
        .is_table = node.is_table,
        .page = path->levels[leaf].page,
    };
    if (node.is_far)
        return tree_fetch(tree, &node, ret);
    ret->value = (lbx__bytes){node.data, node.size};
    ret->offset = path->levels[leaf].page * tree->pages->page_bytes +
                  (uint64_t)(node.data - path->levels[leaf].bytes);
    return LBX_OK;
}

void
lbx__mdb_tree_rewind(lbx__mdb_tree *tree)
{
    tree->level = SIZE_MAX;
    tree->entered = 0;
    tree->ended = tree->root.page == UINT64_MAX;
    tree->met = NULL;
    tree->bad = NULL;
}

bool
lbx__mdb_tree_is_whole(const lbx__mdb_tree *tree)
{
    return tree->counted.rows == tree->root.rows &&
           tree->counted.branches == tree->root.branches &&
           tree->counted.leaves == tree->root.leaves &&
           tree->counted.overflows == tree->root.overflows;
}

/* ---- Finding ---- */

lbx_status
lbx__mdb_tree_get(lbx__mdb_tree *tree, lbx__bytes key, lbx__bytes *ret)
{
    lbx__mdb_path *path = &tree->find;
    uint64_t page = tree->root.page;

    if (page == UINT64_MAX)
        return LBX_NOT_FOUND;
    for (size_t level = 0; level < tree->root.depth; level++) {
        const lbx_status status = tree_load(tree, path, level, page);
        size_t i;

        if (status != LBX_OK)
            return status;
        if (tree_kind(tree, level) == LBX__MDB_LEAF)
            break;
        for (i = path->levels[level].count - 1; i > 0; i--) {
            if (tree_compare(tree, tree_node(tree, path, level, i).key, key) <=
                0)
                break;
        }
        page = tree_node(tree, path, level, i).child;
    }
    // All of them: one that was damaged may be out of order.
    for (size_t i = 0; i < path->levels[tree->root.depth - 1].count; i++) {
        const lbx__mdb_node node =
            tree_node(tree, path, (size_t)tree->root.depth - 1, i);

        if (tree_compare(tree, node.key, key) == 0)
            return tree_read_value(tree, path, &node, ret);
    }
    return LBX_NOT_FOUND;
}
