/* SPDX-License-Identifier: Apache-2.0 */
/* What a walk does to boxes; see walk.h. */
#include "walk.h"

#include <string.h>

static lbx_box_options
draw_options(struct walk *walk, int box, int *ret_dead)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;

    *ret_dead = -1;
    options.fifo = walk_is_fifo(box);
    options.strict = options.fifo || walk_chance(walk, 50);
    options.keep_position = walk_chance(walk, 30);
    if (walk->busy && !options.fifo && walk_chance(walk, 80))
        return options; // no limits: tenants become noisy
    if (walk_chance(walk, 40))
        options.retention_ns = 10 * LBX_SECOND + walk_seconds(walk, 30);
    if (walk_chance(walk, 30))
        options.capacity_letters = 3 + walk_below(walk, 8);
    if (walk_chance(walk, 30))
        options.limits.max_leased = 1 + walk_below(walk, 5);
    if (walk_chance(walk, 30)) {
        options.limits.max_lease_ns = 8 * LBX_SECOND;
        options.lease_ns = LBX_SECOND;
    }
    if (options.fifo && walk_chance(walk, 50))
        options.deduplication = LBX_DEDUPLICATION_GROUP;
    if (walk_chance(walk, 50)) {
        const int dead = walk_box_like(walk, box);

        if (walk->model.boxes[dead].there || dead == box) {
            *ret_dead = dead;
            options.dead_letters = walk_box_name(dead);
            options.max_deliveries = 1 + walk_below(walk, 3);
        }
    }
    return options;
}

void
walk_create_box(struct walk *walk, int box)
{
    int dead;
    lbx_box_options options = draw_options(walk, box, &dead);
    lbx_box_request request = {.name = walk_box_name(box), .options = &options};

    walk_expect(walk, "create", LBX_OK,
                walk_call(walk, LBX_CALL_CREATE, &request));
    if (request.ret_box.uid == walk->uids[box].uid)
        walk_differ(walk, "create: the uid of an earlier life");
    walk->uids[box] = request.ret_box;
    model_create(&walk->model, box, &options, dead);
}

void
walk_change_box(struct walk *walk, int box)
{
    lbx_box_request request = {.box = walk->uids[box]};
    model_box *there = &walk->model.boxes[box];
    int dead;
    lbx_box_options options = draw_options(walk, box, &dead);

    if (!there->there) {
        walk_create_box(walk, box);
        return;
    }
    model_expire(&walk->model, box);
    switch (walk_below(walk, 6)) {
    case 0:
        walk_expect(walk, "delete", LBX_OK,
                    walk_call(walk, LBX_CALL_DELETE, &request));
        model_empty(&walk->model, box);
        there->there = false;
        break;
    case 1:
        if (walk->subject->undoes) {
            const lbx_box_counts counts = model_counts(&walk->model, box);

            walk_expect(walk, "purge", LBX_OK,
                        walk_call(walk, LBX_CALL_PURGE, &request));
            if (request.ret_purged !=
                counts.ready + counts.leased + counts.delayed)
                walk_differ(walk, "purge: another number of letters");
            model_empty(&walk->model, box);
        }
        break;
    default:
        request.options = &options;
        walk_expect(walk, "configure", LBX_OK,
                    walk_call(walk, LBX_CALL_CONFIGURE, &request));
        model_create(&walk->model, box, &options, dead);
    }
}

void
walk_check_counts(struct walk *walk, int box)
{
    lbx_box_counts expected = LBX_BOX_COUNTS_INIT;
    lbx_box_counts actual = {.ready = 0};
    lbx_box_request request = {.box = walk->uids[box], .ret_counts = &actual};
    const bool there = walk->model.boxes[box].there;

    walk_expect(walk, "describe", there ? LBX_OK : LBX_NOT_FOUND,
                walk_call(walk, LBX_CALL_DESCRIBE, &request));
    if (!there)
        return;
    expected = model_counts(&walk->model, box);
    if (expected.ready != actual.ready || expected.leased != actual.leased ||
        expected.delayed != actual.delayed || expected.bytes != actual.bytes ||
        expected.oldest_ns != actual.oldest_ns)
        walk_differ(
            walk,
            "%s: expected %d ready, %d leased, %d delayed, %d bytes, age "
            "%lld; got %d, %d, %d, %d, %lld",
            walk_box_name(box), (int)expected.ready, (int)expected.leased,
            (int)expected.delayed, (int)expected.bytes,
            (long long)expected.oldest_ns, (int)actual.ready,
            (int)actual.leased, (int)actual.delayed, (int)actual.bytes,
            (long long)actual.oldest_ns);
}

/* ---- Moving ---- */

void
walk_move_letters(struct walk *walk, int from)
{
    const int to = walk_box_like(walk, from);
    const bool back = walk_chance(walk, 40);
    lbx_move_progress progress = LBX_MOVE_PROGRESS_INIT;
    lbx_move_request request = {.action = LBX_MOVE_ACTION_START,
                                .ret = &progress,
                                .from = walk->uids[from]};
    lbx_status status;
    uint64_t moved = 0;

    if (!back) {
        if (to == from || !walk->model.boxes[to].there)
            return;
        request.to = walk->uids[to];
    }
    status = walk_call(walk, LBX_CALL_MOVE, &request);
    if (!walk->model.boxes[from].there) {
        walk_expect(walk, "move", LBX_NOT_FOUND, status);
        return;
    }
    if (back) {
        const lbx_status first = model_start_move(&walk->model, from);

        walk_expect(walk, "move back", first, status);
        if (first != LBX_OK)
            return;
    }
    walk_expect(walk, "move", LBX_OK, status);
    request.action = LBX_MOVE_ACTION_DESCRIBE;
    for (int i = 0; i < WALK_GOT_MOST && !walk->failed; i++) {
        walk_expect(walk, "move", LBX_OK,
                    walk_call(walk, LBX_CALL_MOVE, &request));
        if (progress.phase != LBX_MOVE_PHASE_RUNNING)
            break;
    }
    while ((status = model_move(&walk->model, from, back ? -1 : to)) == LBX_OK)
        moved++;
    if (status == LBX_EMPTY) {
        if (progress.phase != LBX_MOVE_PHASE_COMPLETED)
            walk_differ(walk, "move: not completed but %d", progress.phase);
    } else if (progress.phase != LBX_MOVE_PHASE_FAILED)
        walk_differ(walk, "move: not failed but %d", progress.phase);
    else
        walk_expect(walk, "move", status, progress.reason);
    if (progress.moved != moved)
        walk_differ(walk, "move: expected %d letters, got %d", (int)moved,
                    (int)progress.moved);
}
