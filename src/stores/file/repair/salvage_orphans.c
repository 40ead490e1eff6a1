/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strays: leaves of trees whose branch is lost, or that stand in a wrong one.
 *
 * Every page that is in use is met by a walk or is listed as free. One that is
 * neither has lost the page that led to it. (So no row of an earlier time is
 * taken for a living one: its page would be free.) A page that was met, but has
 * rows whose sum is wrong, may have been met in the wrong table. Which table a row
 * is of is what its sum says, which is over the table's number, too.
 */
#include "stores/file/repair/salvage.h"

#include "base/alloc.h"

/* The table that a row is of: -1 for none. */
static int
table_of(lbx__bytes key, lbx__bytes value)
{
    lbx__bytes content;

    for (int i = 0; i < LBX__TABLES; i++) {
        if (lbx__key_is_of((lbx__table)i, key) &&
            lbx__row_check((lbx__table)i, key, value, &content) == LBX_OK)
            return i;
    }
    return -1;
}

struct strays {
    lbx__view *view;
    uint8_t *page;
    uint8_t *value; /* a far one */
    size_t room;
};

static lbx_status
read_far(struct strays *strays, const lbx__mdb_node *node, lbx__bytes *ret)
{
    if (node->size > strays->view->tables.pages.file_bytes)
        return LBX_CORRUPT;
    if (strays->room < node->size) {
        lbx__free(NULL, strays->value, strays->room);
        strays->value = lbx__alloc(NULL, node->size, 8);
        strays->room = strays->value ? node->size : 0;
        if (!strays->value)
            return LBX_NO_MEMORY;
    }
    *ret = (lbx__bytes){strays->value, node->size};
    return lbx__mdb_pages_read_far(&strays->view->tables.pages, node->child,
                                   strays->value, node->size);
}

static lbx_status
take_page(struct strays *strays, uint64_t number)
{
    const size_t page_bytes = strays->view->tables.pages.page_bytes;
    lbx_status status = LBX_OK;

    for (size_t i = 0; i < lbx__mdb_pages_nodes(strays->page); i++) {
        const lbx__mdb_node node =
            lbx__mdb_pages_node(strays->page, LBX__MDB_LEAF, i);
        uint64_t offset =
            number * page_bytes + (uint64_t)(node.data - strays->page);
        lbx__bytes value = {node.data, node.size};
        int table;

        if (node.is_table)
            continue;
        if (node.is_far) {
            status = read_far(strays, &node, &value);
            offset = node.child * page_bytes + LBX__MDB_PAGE_HEAD;
        }
        if (status == LBX_NO_MEMORY)
            return status;
        table = status == LBX_OK ? table_of(node.key, value) : -1;
        status = LBX_OK;
        if (table >= 0)
            status =
                lbx__overlay_add_far(&strays->view->overlay, (lbx__table)table,
                                     node.key, offset, value.size);
        if (status != LBX_OK)
            return status;
    }
    return LBX_OK;
}

lbx_status
lbx__salvage_orphans(lbx__view *view)
{
    struct strays strays = {.view = view};
    lbx_status status = LBX_OK;

    if (!view->tables.knows_unused)
        return LBX_OK;
    strays.page = lbx__alloc(NULL, view->tables.pages.page_bytes, 8);
    if (!strays.page)
        return LBX_NO_MEMORY;
    for (uint64_t i = 2; i < view->tables.pages.there && status == LBX_OK;
         i++) {
        if ((lbx__mdb_pages_set_has(&view->tables.met, i) &&
             !lbx__mdb_pages_set_has(&view->doubtful, i)) ||
            lbx__mdb_pages_set_has(&view->tables.unused, i) ||
            lbx__mdb_pages_read(&view->tables.pages, i, LBX__MDB_LEAF,
                                strays.page) != LBX_OK)
            continue;
        status = take_page(&strays, i);
    }
    lbx__free(NULL, strays.page, view->tables.pages.page_bytes);
    lbx__free(NULL, strays.value, strays.room);
    return status;
}
