/* SPDX-License-Identifier: Apache-2.0 */
/* The actors of an inquest; inquest.h. */
#include "actor/inquest.h"

lbx_status
inquest_write_result(lbx_context *context, struct part *part, void *message)
{
    const lbx_pipe_result *result = message;

    if (lbx_context_type(context) != lbx_pipe_result_type()) {
        world_write(part->world, "%s:%d", part->name, number_of(message));
        return LBX_OK;
    }
    CHECK_INT(sizeof(*result), result->size_bytes);
    world_write(part->world, "%s=%s#%d:%d", part->name,
                lbx_status_name(result->status) + 4, (int)result->correlation,
                number_of(result->answer.message));
    return result->correlation == 99 ? LBX_REFUSED : LBX_OK;
}

lbx_status
inquest_answer(lbx_context *context, struct part *part, void *message)
{
    world_write(part->world, "%s:%d", part->name, number_of(message));
    if (number_of(message) < FAILS)
        lbx_context_reply(context, letter(number_of(message) * 2));
    return LBX_OK;
}

lbx_status
inquest_ask(lbx_context *context, struct part *part, void *argument)
{
    const struct inquiry *inquiry = argument;
    lbx_envelope question = lbx_envelope_of(letter(inquiry->number), 10);

    (void)part;
    CHECK_STATUS(inquiry->expected,
                 lbx_context_ask(context, inquiry->to, &question,
                                 inquiry->timeout_ns, inquiry->correlation));
    return LBX_OK;
}

void
inquest_begin(struct inquest *inquest)
{
    world_begin(&inquest->world);
    part_init(&inquest->a, &inquest->world, "a");
    part_init(&inquest->b, &inquest->world, "b");
    inquest->a.receive = inquest_write_result;
    inquest->b.receive = inquest_answer;
    part_spawn(&inquest->a);
    part_spawn(&inquest->b);
    CHECK_DIARY(&inquest->world, "a+ b+");
}

void
inquest_check_ended(struct inquest *inquest, long letters)
{
    long orders = atomic_load(&inquest->world.order_count);

    world_end(&inquest->world);
    CHECK_INT(letters + orders, atomic_load(&inquest->world.ended));
}
