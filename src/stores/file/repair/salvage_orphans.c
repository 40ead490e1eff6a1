/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orphans: leaves of trees whose branch is lost, or that stand in a wrong one.
 *
 * Every page in use is met by a walk or listed as free. A page that is neither
 * has lost the page that led to it. (A row of an earlier time is never taken
 * for a living one: its page would be free.) A page that was met, but has rows
 * whose sum is wrong, may have been met in the wrong table. The sum of a row
 * shows which table it belongs to: it includes the table's number.
 *
 * Threads    one at a time.
 */
#include "stores/file/repair/salvage.h"

#include "base/alloc.h"

/* The table that a row is of: -1 for none. */
static int
orphans_table(lbx__bytes key, lbx__bytes value)
{
    lbx__bytes content;

    for (int i = 0; i < LBX__TABLES; i++) {
        if (lbx__key_is_of((lbx__table)i, key) &&
            lbx__row_check((lbx__table)i, key, value, &content) == LBX_OK)
            return i;
    }
    return -1;
}

struct orphans {
    lbx__view *view;
    uint8_t *page;
    uint8_t *value; /* a far one */
    size_t size;
};

static lbx_status
orphans_read_far(struct orphans *orphans, const lbx__mdb_node *node,
                 lbx__bytes *ret)
{
    if (node->size > orphans->view->tables.pages.file_bytes)
        return LBX_CORRUPT;
    if (orphans->size < node->size) {
        lbx__free(NULL, orphans->value, orphans->size);
        orphans->value = lbx__alloc(NULL, node->size, 8);
        orphans->size = orphans->value ? node->size : 0;
        if (!orphans->value)
            return LBX_NO_MEMORY;
    }
    *ret = (lbx__bytes){orphans->value, node->size};
    return lbx__mdb_pages_read_far(&orphans->view->tables.pages, node->child,
                                   orphans->value, node->size);
}

static lbx_status
orphans_take_page(struct orphans *orphans, uint64_t number)
{
    const size_t page_bytes = orphans->view->tables.pages.page_bytes;
    lbx_status status = LBX_OK;

    for (size_t i = 0; i < lbx__mdb_pages_nodes(orphans->page); i++) {
        const lbx__mdb_node node =
            lbx__mdb_pages_node(orphans->page, LBX__MDB_LEAF, i);
        uint64_t offset =
            number * page_bytes + (uint64_t)(node.data - orphans->page);
        lbx__bytes value = {node.data, node.size};
        int table;

        if (node.is_table)
            continue;
        if (node.is_far) {
            status = orphans_read_far(orphans, &node, &value);
            offset = node.child * page_bytes + LBX__MDB_PAGE_HEAD;
        }
        if (status == LBX_NO_MEMORY)
            return status;
        table = status == LBX_OK ? orphans_table(node.key, value) : -1;
        status = LBX_OK;
        if (table >= 0)
            status =
                lbx__overlay_add_far(&orphans->view->overlay, (lbx__table)table,
                                     node.key, offset, value.size);
        if (status != LBX_OK)
            return status;
    }
    return LBX_OK;
}

lbx_status
lbx__salvage_orphans(lbx__view *view)
{
    struct orphans orphans = {.view = view};
    lbx_status status = LBX_OK;

    if (!view->tables.knows_unused)
        return LBX_OK;
    orphans.page = lbx__alloc(NULL, view->tables.pages.page_bytes, 8);
    if (!orphans.page)
        return LBX_NO_MEMORY;
    for (uint64_t i = 2; i < view->tables.pages.there && status == LBX_OK;
         i++) {
        if ((lbx__mdb_pages_set_has(&view->tables.met, i) &&
             !lbx__mdb_pages_set_has(&view->doubtful, i)) ||
            lbx__mdb_pages_set_has(&view->tables.unused, i) ||
            lbx__mdb_pages_read(&view->tables.pages, i, LBX__MDB_LEAF,
                                orphans.page) != LBX_OK)
            continue;
        status = orphans_take_page(&orphans, i);
    }
    lbx__free(NULL, orphans.page, view->tables.pages.page_bytes);
    lbx__free(NULL, orphans.value, orphans.size);
    return status;
}
