/* SPDX-License-Identifier: Apache-2.0 */
/* How an actor would get, or got, its dispatcher and its mailbox. */
#include "actor/boxed.h"
#include "actor/selection.h"
#include "actor/system.h"

#include <stdio.h>
#include <string.h>

enum {
    LINE_BYTES = 320,
    PATH_BYTES = 1024,
};

/* The dispatcher of the actor that would be the parent, if it lives. */
static lbx__dispatcher_entry *
find_parent(lbx_system *system, const char *path)
{
    char above[PATH_BYTES];
    lbx_ref parent;
    int length = snprintf(above, sizeof(above), "/user%.*s",
                          (int)(strrchr(path, '/') - path), path);

    if (length < 0 || length >= PATH_BYTES ||
        lbx_system_find(system, above, &parent) != LBX_OK)
        return NULL;
    return lbx__dispatchers_of(system->selection->dispatchers,
                               lbx__cell_of(parent.word)->dispatcher);
}

lbx_status
lbx_system_explain(lbx_system *system, const lbx_props *props, const char *path,
                   void (*print)(void *context, const char *line),
                   void *context)
{
    lbx_fault fault = {.status = LBX_OK};
    lbx__request request = {.props = props,
                            .path = path,
                            .fault = &fault,
                            .print = print,
                            .context = context};
    lbx__choice choice;
    lbx_status status;

    if (!system || !props || props->version != LBX_PROPS_VERSION ||
        !props->behaviour || !path || *path != '/' || !print)
        return LBX_INVALID;
    if (props->dispatcher && strcmp(props->dispatcher, "..") == 0)
        request.parent = find_parent(system, path);
    status = lbx__selection_choose(system->selection, &request, &choice);
    if (status != LBX_OK) {
        char line[LINE_BYTES];

        (void)snprintf(line, sizeof(line), "fails: %s", fault.text);
        print(context, line);
    }
    if (props->fault && status != LBX_OK)
        *props->fault = fault;
    return status;
}

lbx_status
lbx_ref_explain(lbx_ref ref, void (*print)(void *context, const char *line),
                void *context)
{
    char line[LINE_BYTES];
    lbx__cell *cell = lbx__cell_of(ref.word);
    const lbx__selection *selection;
    const lbx__dispatcher_entry *entry;
    const lbx__mailbox *mailbox;

    if (!print)
        return LBX_INVALID;
    if (!lbx_ref_is_alive(ref) || cell->role != LBX__ACTOR)
        return LBX_NOT_FOUND;
    selection = cell->system->selection;
    entry = lbx__dispatchers_of(selection->dispatchers, cell->dispatcher);
    mailbox = lbx__mailboxes_at(selection->mailboxes, cell->mailbox);
    (void)snprintf(line, sizeof(line), "dispatcher: %s",
                   entry ? entry->id : "none");
    print(context, line);
    for (int step = LBX__BY_DEPLOYMENT; step < cell->step; step++) {
        (void)snprintf(line, sizeof(line), "%d %s: did not decide", step,
                       lbx__step_name((lbx__step)step));
        print(context, line);
    }
    (void)snprintf(line, sizeof(line), "%d %s: decided: mailbox %s",
                   (int)cell->step, lbx__step_name((lbx__step)cell->step),
                   mailbox ? mailbox->id : "bounded-capacity");
    print(context, line);
    // Relaxed: it was set at birth.
    (void)snprintf(line, sizeof(line), "type %s, kind %s%s",
                   mailbox ? mailbox->type.name : LBX_KIND_BOUNDED,
                   mailbox ? mailbox->type.kind : LBX_KIND_BOUNDED,
                   lbx__load(&cell->boxed, relaxed) ? "" : ", in the cell");
    print(context, line);
    return LBX_OK;
}
