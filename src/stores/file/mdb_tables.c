/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of data.mdb; see mdb_tables.h. */
#include "stores/file/mdb_tables.h"

#include "base/alloc.h"
#include "stores/file/folder.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---- Free pages ---- */

/* Takes one record of the list: a count, then page numbers, falling. */
static bool
unused_add_record(lbx__mdb_tables *tables, lbx__bytes record)
{
    uint64_t count, page, before = UINT64_MAX;

    if (record.size < 8)
        return false;
    memcpy(&count, record.data, 8);
    if (count > record.size / 8 - 1)
        return false;
    for (uint64_t i = 1; i <= count; i++) {
        memcpy(&page, (const uint8_t *)record.data + 8 * i, 8);
        if (page < 2 || page >= tables->pages.count || page >= before ||
            (page < tables->pages.there &&
             !lbx__mdb_pages_set_add(&tables->unused, page)))
            return false;
        before = page;
    }
    return true;
}

static lbx_status
unused_read(lbx__mdb_tables *tables)
{
    lbx__mdb_tree tree;
    lbx__mdb_tree_row row;
    bool whole = true;
    lbx_status status;

    if (!lbx__mdb_pages_set_init(&tables->unused, tables->pages.there))
        return LBX_NO_MEMORY;
    lbx__mdb_tree_init(&tree, &tables->pages, &tables->pages.unused);
    tree.by_number = true;
    tree.met = &tables->met;
    while ((status = lbx__mdb_tree_next(&tree, &row)) == LBX_OK) {
        if (row.is_lost || row.key.size != 8 ||
            !unused_add_record(tables, row.value))
            whole = false;
    }
    tables->knows_unused = whole && lbx__mdb_tree_is_whole(&tree);
    lbx__mdb_tree_fini(&tree);
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

/* ---- Opening ---- */

lbx_status
lbx__mdb_tables_open(lbx__mdb_tables *tables, const lbx__io *io, int folder,
                     const char **ret_why)
{
    memset(tables, 0, sizeof(*tables));
    tables->io = io;
    tables->folder = folder;
    tables->header_status = LBX_NOT_FOUND;
    tables->fd = io->open(io, folder, LBX__DATA, O_RDONLY);
    if (tables->fd < 0) {
        *ret_why = "it cannot be opened";
        return lbx__io_status(tables->fd);
    }
    return lbx__mdb_pages_open(&tables->pages, io, tables->fd, ret_why);
}

void
lbx__mdb_tables_close(lbx__mdb_tables *tables)
{
    if (!tables->io)
        return;
    for (int i = 0; i < LBX__MDB_TABLES; i++)
        lbx__mdb_tree_fini(&tables->trees[i]);
    lbx__mdb_pages_set_fini(&tables->met);
    lbx__mdb_pages_set_fini(&tables->unused);
    if (tables->fd >= 0)
        (void)close(tables->fd);
    memset(tables, 0, sizeof(*tables));
}

void
lbx__mdb_tables_listen(lbx__mdb_tables *tables, lbx__mdb_tables_bad *bad,
                       void *context)
{
    tables->bad = bad;
    tables->context = context;
}

static void
tables_report_page(void *context, const lbx__mdb_bad_page *page)
{
    const struct lbx__mdb_tables_slot *slot = context;

    if (slot->tables->bad)
        slot->tables->bad(slot->tables->context, slot->table, page);
}

static void
tables_attach(lbx__mdb_tables *tables, lbx__mdb_tree *tree, int table)
{
    tables->slots[table] =
        (struct lbx__mdb_tables_slot){tables, (lbx__table)table};
    tree->met = &tables->met;
    tree->bad = tables_report_page;
    tree->context = &tables->slots[table];
}

static void
tables_read_header(lbx__mdb_tables *tables)
{
    const lbx__bytes key = {"store", sizeof("store")};
    lbx__bytes value;
    lbx_status status;

    if (!tables->has[LBX__HEADER_TABLE])
        return;
    status = lbx__mdb_tree_get(&tables->trees[LBX__HEADER_TABLE], key, &value);
    if (status == LBX_OK)
        status = lbx__header_unpack(value, &tables->header);
    tables->header_status = status;
}

lbx_status
lbx__mdb_tables_find(lbx__mdb_tables *tables)
{
    lbx__mdb_tree main;
    lbx__mdb_tree_row row;
    lbx_status status;

    if (!lbx__mdb_pages_set_init(&tables->met, tables->pages.there))
        return LBX_NO_MEMORY;
    // First: a damaged table may lead to pages that belong to the free list.
    status = unused_read(tables);
    if (status != LBX_OK)
        return status;
    lbx__mdb_tree_init(&main, &tables->pages, &tables->pages.main);
    tables_attach(tables, &main, LBX__HEADER_TABLE);
    while ((status = lbx__mdb_tree_next(&main, &row)) == LBX_OK) {
        const int table = lbx__engine_table(row.key);
        lbx__mdb_root root;

        if (table < 0 || !row.is_table || tables->has[table] ||
            !lbx__mdb_pages_unpack_root(&tables->pages, row.value.data, &root))
            continue;
        tables->has[table] = true;
        lbx__mdb_tree_init(&tables->trees[table], &tables->pages, &root);
        tables_attach(tables, &tables->trees[table], table);
    }
    lbx__mdb_tree_fini(&main);
    if (status != LBX_NOT_FOUND)
        return status;
    tables_read_header(tables);
    return LBX_OK;
}

/* ---- Skimming ---- */

static void
tables_note_bad(void *context, lbx__table table, const lbx__mdb_bad_page *page)
{
    (void)table;
    (void)page;
    *(bool *)context = true;
}

/* Whether the root of a table is a page of the right kind. */
static lbx_status
tables_check_root(const lbx__mdb_tables *tables, const lbx__mdb_tree *tree,
                  uint8_t *page)
{
    if (tree->root.page == UINT64_MAX)
        return LBX_OK;
    return lbx__mdb_pages_read(
        &tables->pages, tree->root.page,
        tree->root.depth == 1 ? LBX__MDB_LEAF : LBX__MDB_BRANCH, page);
}

lbx_status
lbx__mdb_tables_skim(lbx__mdb_tables *tables, const char **ret_why)
{
    uint8_t *page;
    bool bad = false;
    lbx_status status;

    if (tables->pages.main.rows == 0)
        return LBX_OK; // a store that is being made
    lbx__mdb_tables_listen(tables, tables_note_bad, &bad);
    status = lbx__mdb_tables_find(tables);
    lbx__mdb_tables_listen(tables, NULL, NULL);
    page =
        status == LBX_OK ? lbx__alloc(NULL, tables->pages.page_bytes, 8) : NULL;
    if (!page)
        return LBX_NO_MEMORY;
    *ret_why = "a table is damaged";
    for (int i = 0; i < LBX__MDB_TABLES && status == LBX_OK; i++) {
        if (bad || !tables->has[i])
            status = LBX_CORRUPT;
        else
            status = tables_check_root(tables, &tables->trees[i], page);
    }
    lbx__free(NULL, page, tables->pages.page_bytes);
    if (status == LBX_OK &&
        (!tables->knows_unused || lbx__mdb_tables_overlap(tables))) {
        *ret_why = "the list of free pages is damaged";
        status = LBX_CORRUPT;
    }
    return status;
}

bool
lbx__mdb_tables_overlap(const lbx__mdb_tables *tables)
{
    for (uint64_t i = 2; i < tables->pages.there; i++) {
        if (lbx__mdb_pages_set_has(&tables->met, i) &&
            lbx__mdb_pages_set_has(&tables->unused, i))
            return true;
    }
    return false;
}
