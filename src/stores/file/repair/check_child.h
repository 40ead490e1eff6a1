/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads a store for a check, and what it sends to its
 * parent. */
#ifndef LBX_STORES_FILE_REPAIR_CHECK_CHILD_H
#define LBX_STORES_FILE_REPAIR_CHECK_CHILD_H

#include <letterbox/post/file_store.h>

#include <sys/types.h>

/* One message over the pipe: progress, a damaged part, or the end. */
typedef struct lbx__check_message {
    bool is_end;
    bool is_progress;
    bool has_box;
    uint64_t done, total; /* progress */
    lbx_status status;    /* of the end */
    lbx_file_store_damage part;
    char box[LBX_BOX_NAME_BYTES];
    char what[24];
    lbx_file_store_report report;
    lbx_fault fault;
} lbx__check_message;

/* In the child: checks the store in a folder, which may be one of a group, and
 * exits (CHECK-1). */
void lbx__check_child_run(const char *dir, bool group, int pipe, pid_t parent);

#endif
