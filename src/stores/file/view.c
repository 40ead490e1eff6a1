/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a store at one moment; see view.h. */
#include "stores/file/view.h"

#include "base/alloc.h"
#include "stores/file/folder.h"
#include "stores/file/room.h"

#include <fcntl.h>
#include <unistd.h>

/* ---- Free pages ---- */

/* A list: its count, then page numbers, the greatest first. */
static bool
take_list(lbx__view *view, lbx__bytes list)
{
    uint64_t count, page, before = UINT64_MAX;

    if (list.size < 8)
        return false;
    memcpy(&count, list.data, 8);
    if (count > list.size / 8 - 1)
        return false;
    for (uint64_t i = 1; i <= count; i++) {
        memcpy(&page, (const uint8_t *)list.data + 8 * i, 8);
        if (page < 2 || page >= view->pages.count || page >= before ||
            (page < view->pages.there &&
             !lbx__page_set_add(&view->unused, page)))
            return false;
        before = page;
    }
    return true;
}

static lbx_status
read_unused(lbx__view *view)
{
    lbx__tree tree;
    lbx__tree_row row;
    bool whole = true;
    lbx_status status;

    if (!lbx__page_set_init(&view->unused, view->pages.there))
        return LBX_NO_MEMORY;
    lbx__tree_init(&tree, &view->pages, &view->pages.unused);
    tree.by_number = true;
    tree.met = &view->met;
    while ((status = lbx__tree_next(&tree, &row)) == LBX_OK) {
        if (row.is_lost || row.key.size != 8 || !take_list(view, row.value))
            whole = false;
    }
    view->knows_unused = whole && lbx__tree_is_whole(&tree);
    lbx__tree_fini(&tree);
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

/* ---- Opening ---- */

lbx_status
lbx__view_open(lbx__view *view, const lbx__io *io, int folder,
               const char **ret_why)
{
    memset(view, 0, sizeof(*view));
    view->io = io;
    view->folder = folder;
    view->own_status = LBX_NOT_FOUND;
    view->fd = io->open(io, folder, LBX__DATA, O_RDONLY);
    if (view->fd < 0) {
        *ret_why = "it cannot be opened";
        return lbx__io_status(view->fd);
    }
    return lbx__pages_open(&view->pages, io, view->fd, ret_why);
}

void
lbx__view_close(lbx__view *view)
{
    if (!view->io)
        return;
    lbx__overlay_fini(&view->overlay);
    for (int i = 0; i <= LBX__TABLES; i++) {
        lbx__free(NULL, view->far[i].bytes, view->far[i].room);
        lbx__tree_fini(&view->tables[i]);
    }
    lbx__page_set_fini(&view->met);
    lbx__page_set_fini(&view->doubtful);
    lbx__page_set_fini(&view->unused);
    if (view->fd >= 0)
        (void)close(view->fd);
    memset(view, 0, sizeof(*view));
}

static void
tell_bad(void *context, const lbx__bad_page *page)
{
    const struct lbx__view_table *table = context;

    if (table->view->bad)
        table->view->bad(table->view->context, table->table, page);
}

void
lbx__view_listen(lbx__view *view, lbx__view_bad *bad, void *context)
{
    view->bad = bad;
    view->context = context;
}

static void
prepare(lbx__view *view, lbx__tree *tree, int table)
{
    view->contexts[table] = (struct lbx__view_table){view, (lbx__table)table};
    tree->met = &view->met;
    tree->bad = tell_bad;
    tree->context = &view->contexts[table];
}

static void
read_own(lbx__view *view)
{
    const lbx__bytes key = {"store", sizeof("store")};
    lbx__bytes value;
    lbx_status status;

    if (!view->has_table[LBX__OWN])
        return;
    status = lbx__tree_get(&view->tables[LBX__OWN], key, &value);
    if (status == LBX_OK)
        status = lbx__own_unpack(value, &view->own);
    view->own_status = status;
}

lbx_status
lbx__view_find_tables(lbx__view *view)
{
    lbx__tree main;
    lbx__tree_row row;
    lbx_status status;

    if (!lbx__page_set_init(&view->met, view->pages.there) ||
        !lbx__page_set_init(&view->doubtful, view->pages.there))
        return LBX_NO_MEMORY;
    // First: a damaged table may lead to pages that are not its own.
    status = read_unused(view);
    if (status != LBX_OK)
        return status;
    lbx__tree_init(&main, &view->pages, &view->pages.main);
    prepare(view, &main, LBX__OWN);
    while ((status = lbx__tree_next(&main, &row)) == LBX_OK) {
        const int table = lbx__engine_table(row.key);
        lbx__root root;

        if (table < 0 || !row.is_table || view->has_table[table] ||
            !lbx__root_unpack(&view->pages, row.value.data, &root))
            continue;
        view->has_table[table] = true;
        lbx__tree_init(&view->tables[table], &view->pages, &root);
        prepare(view, &view->tables[table], table);
    }
    lbx__tree_fini(&main);
    if (status != LBX_NOT_FOUND)
        return status;
    read_own(view);
    return LBX_OK;
}

/* ---- Rows ---- */

/* The value of a row that lies over the trees. */
static lbx_status
over_value(lbx__view *view, const lbx__over *over, lbx__bytes *ret)
{
    uint8_t **bytes = &view->far[over->table].bytes;

    *ret = (lbx__bytes){over->bytes + over->key_size, over->value_size};
    if (!over->is_far)
        return LBX_OK;
    if (view->far[over->table].room < over->value_size) {
        lbx__free(NULL, *bytes, view->far[over->table].room);
        *bytes = lbx__alloc(NULL, over->value_size, 8);
        view->far[over->table].room = *bytes ? over->value_size : 0;
        if (!*bytes)
            return LBX_NO_MEMORY;
    }
    ret->data = *bytes;
    return lbx__io_read_all(view->io, view->fd, *bytes, over->value_size,
                            over->offset) == LBX_OK
               ? LBX_OK
               : LBX_CORRUPT;
}

static void
judge(lbx__table table, lbx__bytes key, lbx__bytes value, lbx__view_row *ret)
{
    *ret = (lbx__view_row){.key = key};
    // A right sum does not make it a row of ours: it is no secret how to make one.
    ret->is_good = lbx__key_is_of(table, key) &&
                   lbx__row_check(table, key, value, &ret->value) == LBX_OK;
    if (ret->is_good)
        ret->sum = lbx__row_sum(ret->value);
}

/* The journal's rows of a table, behind the tree's. */
static lbx_status
next_over(lbx__view *view, lbx__table table, lbx__view_row *ret)
{
    size_t *at = &view->over_at[table];

    if (*at == 0)
        *at = 1 + lbx__overlay_find(&view->overlay, table, (lbx__bytes){"", 0});
    for (; *at <= view->overlay.count; ++*at) {
        const lbx__over *over = view->overlay.rows[*at - 1];
        lbx__bytes value;
        lbx_status status;

        if (over->table != (uint8_t)table)
            break;
        if (over->deleted)
            continue;
        ++*at;
        status = over_value(view, over, &value);
        if (status == LBX_NO_MEMORY)
            return status;
        if (status == LBX_OK)
            judge(table, lbx__over_key(over), value, ret);
        else
            *ret = (lbx__view_row){.key = lbx__over_key(over)};
        return LBX_OK;
    }
    *at = 0;
    return LBX_NOT_FOUND;
}

lbx_status
lbx__view_next(lbx__view *view, lbx__table table, lbx__view_row *ret)
{
    lbx__tree *tree = &view->tables[table];
    lbx__tree_row row;
    lbx_status status;

    if (view->over_at[table] == 0 && view->has_table[table]) {
        while ((status = lbx__tree_next(tree, &row)) == LBX_OK) {
            if (lbx__overlay_get(&view->overlay, table, row.key))
                continue;
            if (row.is_lost)
                *ret = (lbx__view_row){.key = row.key};
            else
                judge(table, row.key, row.value, ret);
            if (!ret->is_good)
                (void)lbx__page_set_add(&view->doubtful, row.page);
            return LBX_OK;
        }
        if (status != LBX_NOT_FOUND)
            return status;
        if (tree->met) // the first walk
            view->is_whole[table] = lbx__tree_is_whole(tree);
    }
    status = next_over(view, table, ret);
    if (status == LBX_NOT_FOUND && view->has_table[table])
        lbx__tree_again(tree);
    return status;
}

lbx_status
lbx__view_get(lbx__view *view, lbx__table table, const lbx__key *key,
              lbx__bytes *ret)
{
    const lbx__over *over =
        lbx__overlay_get(&view->overlay, table, lbx__key_bytes(key));
    lbx__bytes value;
    lbx_status status;

    if (over && over->deleted)
        return LBX_NOT_FOUND;
    if (over)
        status = over_value(view, over, &value);
    else if (view->has_table[table])
        status =
            lbx__tree_get(&view->tables[table], lbx__key_bytes(key), &value);
    else
        status = LBX_CORRUPT;
    if (status != LBX_OK)
        return status;
    return lbx__row_check(table, lbx__key_bytes(key), value, ret);
}

static void
note_bad(void *context, lbx__table table, const lbx__bad_page *page)
{
    (void)table;
    (void)page;
    *(bool *)context = true;
}

/* The root of a table is a page of the right kind. */
static lbx_status
check_root(const lbx__view *view, const lbx__tree *tree, uint8_t *page)
{
    if (tree->root.page == UINT64_MAX)
        return LBX_OK;
    return lbx__page_read(&view->pages, tree->root.page,
                          tree->root.depth == 1 ? LBX__LEAF : LBX__BRANCH,
                          page);
}

lbx_status
lbx__view_skim(lbx__view *view, const char **ret_why)
{
    uint8_t *page;
    bool bad = false;
    lbx_status status;

    if (view->pages.main.rows == 0)
        return LBX_OK; // a store that is being made
    lbx__view_listen(view, note_bad, &bad);
    status = lbx__view_find_tables(view);
    lbx__view_listen(view, NULL, NULL);
    page =
        status == LBX_OK ? lbx__alloc(NULL, view->pages.page_bytes, 8) : NULL;
    if (!page)
        return LBX_NO_MEMORY;
    *ret_why = "a table is damaged";
    for (int i = 0; i <= LBX__TABLES && status == LBX_OK; i++) {
        if (bad || !view->has_table[i])
            status = LBX_CORRUPT;
        else
            status = check_root(view, &view->tables[i], page);
    }
    lbx__free(NULL, page, view->pages.page_bytes);
    if (status == LBX_OK && (!view->knows_unused || lbx__view_overlaps(view))) {
        *ret_why = "the list of free pages is damaged";
        status = LBX_CORRUPT;
    }
    return status;
}

bool
lbx__view_overlaps(const lbx__view *view)
{
    for (uint64_t i = 2; i < view->pages.there; i++) {
        if (lbx__page_set_has(&view->met, i) &&
            lbx__page_set_has(&view->unused, i))
            return true;
    }
    return false;
}
