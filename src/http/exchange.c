/* SPDX-License-Identifier: Apache-2.0 */
#include "http/exchange.h"

#include "http/connection.h"
#include <assert.h>

lbx__slice
lbx__http_field_of(const lbx__http_request *request, const char *name)
{
    size_t size = strlen(name), i;

    for (i = 0; i < request->field_count; i++) {
        const lbx__http_field *field = &request->fields[i];

        if (field->name.size == size &&
            memcmp(field->name.bytes, name, size) == 0)
            return field->value;
    }
    return (lbx__slice){NULL, 0};
}

static lbx__turn *
exchange_turn(lbx__http_exchange *exchange)
{
    return (lbx__turn *)(void *)exchange;
}

void
lbx__http_answer(lbx__http_exchange *exchange, const lbx__http_reply *reply)
{
    lbx__turn *turn = exchange_turn(exchange);

    assert(turn->is_handled && !turn->is_answered); // EXCH-1
    assert(lbx__loop_is_this_thread(turn->connection->shard->loop));
    if (reply->needs_client && !turn->is_dropped &&
        lbx__stream_has_peer_left(&turn->connection->stream)) {
        turn->is_dropped = true; // the loop will notice, too late for this one
        turn->connection->turn_count--;
    }
    if (!turn->is_dropped)
        lbx__turn_answer(turn, reply);
    turn->is_answered = true;
    lbx__turn_forget_body(turn);
    lbx__connection_settle_later(turn->connection);
}

lbx__loop *
lbx__http_exchange_loop(const lbx__http_exchange *exchange)
{
    const lbx__turn *turn = (const void *)exchange;

    return turn->connection->shard->loop;
}
