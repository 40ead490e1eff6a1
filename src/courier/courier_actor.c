/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler that tells letters to an actor: the bridge between letters, which
 * survive a crash, and messages, which do not.
 *
 * The letter stays leased until the actor's handler has returned. If the
 * process crashes meanwhile, the letter is delivered again. If the actor fails,
 * restarts or stops, its handler did not return LBX_OK, and the letter has
 * failed.
 */
#include <letterbox/actor/ask.h>
#include <letterbox/courier.h>

lbx_status
lbx_courier_tell_actor(lbx_job *job, void *context)
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
    status = lbx_tell_handled_init(&handled, actor->system, actor->ref,
                                   &envelope, LBX_FOREVER);
    if (status != LBX_OK) {
        lbx_type_destroy_message(envelope.type, message);
        return status;
    }
    status = lbx_operation_wait(&handled);
    lbx_operation_fini(&handled);
    // PENDING is no outcome: it does not report whether the work was done.
    return status == LBX_PENDING ? LBX_UNKNOWN : status;
}
