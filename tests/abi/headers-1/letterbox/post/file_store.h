/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_POST_FILE_H
#define LETTERBOX_POST_FILE_H
#include <letterbox/base.h>
#include <letterbox/store.h>
LBX_BEGIN
typedef struct lbx_file_store_damage {
    const char *box;
    const char *what;
    uint64_t first_sequence;
    uint64_t last_sequence;
    uint64_t offset_bytes;
    uint64_t damaged_bytes;
} lbx_file_store_damage;
typedef struct lbx_file_store_report {
    size_t size_bytes;
    uint64_t boxes;
    uint64_t letters;
    uint64_t damaged;
    uint64_t missing;
    uint64_t journal_records;
    uint64_t torn_bytes;
    lbx_fault fault;
} lbx_file_store_report;
#define LBX_FILE_STORE_REPORT_INIT                                             \
    {                                                                          \
        .size_bytes = sizeof(lbx_file_store_report)                            \
    }
LBX_API LBX_MUST_USE lbx_status lbx_file_store_check(
    const char *dir,
    void (*damage)(void *context, const lbx_file_store_damage *part),
    void *context, lbx_file_store_report *ret);
LBX_API LBX_MUST_USE lbx_status lbx_file_store_copy(lbx_store *store,
                                                    const char *dir);
LBX_API LBX_MUST_USE lbx_status lbx_file_store_salvage(
    const char *dir, const char *new_dir,
    void (*damage)(void *context, const lbx_file_store_damage *part),
    void *context, lbx_file_store_report *ret);
LBX_END
#endif
