/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a store at one moment; see view.h. */
#include "stores/file/repair/view.h"

#include "base/alloc.h"

lbx_status
lbx__view_open(lbx__view *view, const lbx__io *io, int folder,
               const char **ret_why)
{
    memset(view, 0, sizeof(*view));
    return lbx__mdb_tables_open(&view->tables, io, folder, ret_why);
}

void
lbx__view_close(lbx__view *view)
{
    if (!view->tables.io)
        return;
    lbx__overlay_fini(&view->overlay);
    for (int i = 0; i < LBX__MDB_TABLES; i++)
        lbx__free(NULL, view->far[i].bytes, view->far[i].size);
    lbx__mdb_pages_set_fini(&view->doubtful);
    lbx__mdb_tables_close(&view->tables);
    memset(view, 0, sizeof(*view));
}

lbx_status
lbx__view_find_tables(lbx__view *view)
{
    if (!lbx__mdb_pages_set_init(&view->doubtful, view->tables.pages.there))
        return LBX_NO_MEMORY;
    return lbx__mdb_tables_find(&view->tables);
}

/* ---- Rows ---- */

/* The value of a row that lies over the trees. */
static lbx_status
view_overlay_value(lbx__view *view, const lbx__overlay_row *over,
                   lbx__bytes *ret)
{
    uint8_t **bytes = &view->far[over->table].bytes;

    *ret = (lbx__bytes){over->bytes + over->key_size, over->value_size};
    if (!over->is_far)
        return LBX_OK;
    if (view->far[over->table].size < over->value_size) {
        lbx__free(NULL, *bytes, view->far[over->table].size);
        *bytes = lbx__alloc(NULL, over->value_size, 8);
        view->far[over->table].size = *bytes ? over->value_size : 0;
        if (!*bytes)
            return LBX_NO_MEMORY;
    }
    ret->data = *bytes;
    return lbx__io_read_all(view->tables.io, view->tables.fd, *bytes,
                            over->value_size, over->offset) == LBX_OK
               ? LBX_OK
               : LBX_CORRUPT;
}

static void
view_judge(lbx__table table, lbx__bytes key, lbx__bytes value,
           lbx__view_row *ret)
{
    *ret = (lbx__view_row){.key = key};
    // A right sum does not make it a row of ours: it is no secret how to make
    // one.
    ret->is_good = lbx__key_is_of(table, key) &&
                   lbx__row_check(table, key, value, &ret->value) == LBX_OK;
    if (ret->is_good)
        ret->sum = lbx__row_sum(ret->value);
}

/* The journal's rows of a table, behind the tree's. */
static lbx_status
view_next_overlay(lbx__view *view, lbx__table table, lbx__view_row *ret)
{
    size_t *at = &view->over_at[table];

    if (*at == 0)
        *at = 1 + lbx__overlay_find(&view->overlay, table, (lbx__bytes){"", 0});
    for (; *at <= view->overlay.rows.count; ++*at) {
        const lbx__overlay_row *over = view->overlay.rows.items[*at - 1];
        lbx__bytes value;
        lbx_status status;

        if (over->table != (uint8_t)table)
            break;
        if (over->deleted)
            continue;
        ++*at;
        status = view_overlay_value(view, over, &value);
        if (status == LBX_NO_MEMORY)
            return status;
        if (status == LBX_OK)
            view_judge(table, lbx__overlay_row_key(over), value, ret);
        else
            *ret = (lbx__view_row){.key = lbx__overlay_row_key(over)};
        return LBX_OK;
    }
    *at = 0;
    return LBX_NOT_FOUND;
}

lbx_status
lbx__view_next(lbx__view *view, lbx__table table, lbx__view_row *ret)
{
    lbx__mdb_tree *tree = &view->tables.trees[table];
    lbx__mdb_tree_row row;
    lbx_status status;

    if (view->over_at[table] == 0 && view->tables.has[table]) {
        while ((status = lbx__mdb_tree_next(tree, &row)) == LBX_OK) {
            if (lbx__overlay_get(&view->overlay, table, row.key))
                continue;
            if (row.is_lost)
                *ret = (lbx__view_row){.key = row.key};
            else
                view_judge(table, row.key, row.value, ret);
            if (!ret->is_good)
                (void)lbx__mdb_pages_set_add(&view->doubtful, row.page);
            return LBX_OK;
        }
        if (status != LBX_NOT_FOUND)
            return status;
        if (tree->met) // the first walk
            view->is_whole[table] = lbx__mdb_tree_is_whole(tree);
    }
    status = view_next_overlay(view, table, ret);
    if (status == LBX_NOT_FOUND && view->tables.has[table])
        lbx__mdb_tree_rewind(tree);
    return status;
}

lbx_status
lbx__view_get(lbx__view *view, lbx__table table, const lbx__key *key,
              lbx__bytes *ret)
{
    const lbx__overlay_row *over =
        lbx__overlay_get(&view->overlay, table, lbx__key_bytes(key));
    lbx__bytes value;
    lbx_status status;

    if (over && over->deleted)
        return LBX_NOT_FOUND;
    if (over)
        status = view_overlay_value(view, over, &value);
    else if (view->tables.has[table])
        status = lbx__mdb_tree_get(&view->tables.trees[table],
                                   lbx__key_bytes(key), &value);
    else
        status = LBX_CORRUPT;
    if (status != LBX_OK)
        return status;
    return lbx__row_check(table, lbx__key_bytes(key), value, ret);
}
