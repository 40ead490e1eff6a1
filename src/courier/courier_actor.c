/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a postbox to an actor: the bridge between letters that survive and messages
 * that do not.
 *
 * The letter is on its lease until the actor's handler has returned. If the process
 * dies meanwhile it comes again; if the actor fails, restarts or ends, its handler
 * did not return LBX_OK, and the letter is a failed one.
 */
#include <letterbox/actor/ask.h>
#include <letterbox/courier.h>

lbx_status
lbx_courier_to_actor(lbx_job *job, void *context)
{
    const lbx_courier_actor *actor = context;
    lbx_letter *letter = lbx_job_letter(job);
    lbx_envelope envelope;
    lbx_operation handled;
    lbx_status status;
    void *message;

    if (!letter || !actor)
        return LBX_INVALID;
    status = lbx_letter_take_message(letter, &message);
    if (status != LBX_OK)
        return status;
    envelope = lbx_envelope_of_type(message, lbx_letter_type(letter));
    status = lbx_handled_init(&handled, actor->system, actor->ref, &envelope,
                              LBX_FOREVER);
    if (status != LBX_OK) {
        lbx_type_end_message(envelope.type, message);
        return status;
    }
    status = lbx_operation_wait(&handled);
    lbx_operation_fini(&handled);
    // PENDING is no outcome: a handler that answers it has not said what it did.
    return status == LBX_PENDING ? LBX_UNKNOWN : status;
}
