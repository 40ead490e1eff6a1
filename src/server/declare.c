/* SPDX-License-Identifier: Apache-2.0 */
/* A queue that the program which runs the server declares, as letterbox serve
 * does when it reads its settings again. */
#include "base/fault.h"
#include "server/server.h"

lbx_status
lbx_server_declare_queue(lbx_server *server, const char *name,
                         const lbx_box_options *options, lbx_fault *fault)
{
    lbx__change_wait wait;
    lbx_status status;
    lbx__sqs *sqs;

    lbx__fault_clear(fault);
    if (!server || !name || !options)
        return lbx__fault_set(fault, LBX_INVALID, "%s: there is none",
                              !server ? "server"
                              : !name ? "name"
                                      : "options");
    sqs = &server->sqs;
    // The space of the home world is that of programs.
    lbx__change_lock_wait(&sqs->change_locks, &wait, NULL, name);
    status = lbx_store_create_box(sqs->store, name, options, fault);
    if (status == LBX_EXISTS)
        status = lbx_store_configure_box(sqs->store, name, options, fault);
    // Also after a failure: it may have happened (QUEUE-3).
    lbx__queues_forget(sqs->queues, &sqs->home, name);
    lbx__change_lock_end(&sqs->change_locks, &wait);
    if (status == LBX_OK)
        lbx__fault_clear(fault);
    return status;
}
