/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "http/connection.h"

lbx__turn *
lbx__turn_create(lbx__connection *connection, size_t field_count,
                 const char *head, size_t head_bytes)
{
    const lbx__http_options *options = &connection->shard->common->options;
    // Neither overflows: both are bounded by the limits, which are checked.
    size_t size =
        sizeof(lbx__turn) + field_count * sizeof(lbx__http_field) + head_bytes;
    lbx__turn *turn = lbx__alloc(options->allocator, size, _Alignof(lbx__turn));

    if (!turn)
        return NULL;
    *turn = (lbx__turn){.connection = connection, .size_bytes = size};
    lbx__budget_take(connection->shard->common->budget, size);
    lbx__list_init(&turn->link);
    lbx__buffer_init(&turn->body, options->allocator,
                     options->limits.max_body_bytes);
    turn->parser.fields = (lbx__http_field *)(void *)(turn + 1);
    turn->parser.max_field_count = field_count;
    turn->parser.body = &turn->body;
    turn->parser.max_body_bytes = options->limits.max_body_bytes;
    if (head_bytes > 0)
        memcpy(turn->parser.fields + field_count, head, head_bytes);
    return turn;
}

void
lbx__turn_forget_body(lbx__turn *turn)
{
    lbx__budget_give(turn->connection->shard->common->budget,
                     turn->body.capacity);
    lbx__buffer_fini(&turn->body);
}

void
lbx__turn_destroy(lbx__turn *turn)
{
    const lbx_allocator *allocator;
    lbx__shard_common *common;

    if (!turn)
        return;
    common = turn->connection->shard->common;
    allocator = common->options.allocator;
    lbx__list_remove(&turn->link);
    lbx__turn_forget_body(turn);
    lbx__budget_give(common->budget, turn->size_bytes);
    lbx__answer_destroy(allocator, turn->answer);
    lbx__free(allocator, turn, turn->size_bytes);
}

void
lbx__turn_answer(lbx__turn *turn, const lbx__http_reply *reply)
{
    lbx__connection *connection = turn->connection;
    lbx__shard *shard = connection->shard;
    lbx__answer_frame frame = {
        .is_bodiless = turn->exchange.request.method == LBX__HTTP_HEAD,
        .is_old = turn->is_old,
        .date = lbx__shard_date(shard),
    };

    // CONN-3: the answer to the last request says so.
    frame.is_last =
        reply->close || (connection->state >= LBX__CONNECTION_LAST &&
                         connection->turns.prev == &turn->link);
    turn->answer =
        lbx__answer_create(shard->common->options.allocator, reply, &frame);
    if (turn->answer) {
        lbx__budget_take(shard->common->budget, turn->answer->size_bytes);
        turn->answer->budget = shard->common->budget;
        turn->answer->owner = connection;
        turn->answer->is_handled = turn->is_handled;
        turn->answer->exchange_context = turn->exchange.context;
    }
}
