/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of tasks; see move_task.h. */
#include "post/rules/move_task.h"

void
lbx__move_task_write(lbx__rules *rules, const lbx__move_task *task)
{
    const lbx__key key = lbx__key_2(task->from, task->number);
    uint8_t bytes[LBX__MOVE_TASK_BYTES] = {0};
    uint8_t *at = bytes;

    at = lbx__put_le64(at, task->to);
    at = lbx__put_le64(at, (uint64_t)task->rate);
    at = lbx__put_le64(at, (uint64_t)task->started_ns);
    at = lbx__put_le64(at, (uint64_t)task->started_ms);
    at = lbx__put_le64(at, task->moved);
    at = lbx__put_le32(at, (uint32_t)task->phase);
    lbx__put_le32(at, (uint32_t)task->reason);
    lbx__row_put(rules->storage, LBX__TASKS, &key,
                 &(lbx__bytes){bytes, sizeof(bytes)}, 1);
}

lbx_status
lbx__move_task_seek(lbx__rules *rules, const lbx__key *from, size_t prefix,
                    lbx__move_task *ret)
{
    lbx__bytes at, value;
    const uint8_t *bytes;
    lbx_status status =
        lbx__row_seek(rules->storage, LBX__TASKS, from, prefix, &at, &value);

    if (status != LBX_OK || value.size != LBX__MOVE_TASK_BYTES)
        return status == LBX_OK ? LBX_CORRUPT : status;
    bytes = value.data;
    *ret = (lbx__move_task){
        .from = lbx__key_number(at, 0),
        .number = lbx__key_number(at, 1),
        .to = lbx__get_le64(bytes),
        .rate = (int64_t)lbx__get_le64(bytes + 8),
        .started_ns = (int64_t)lbx__get_le64(bytes + 16),
        .started_ms = (int64_t)lbx__get_le64(bytes + 24),
        .moved = lbx__get_le64(bytes + 32),
        .phase = (lbx_move_phase)lbx__get_le32(bytes + 40),
        .reason = (lbx_status)(int32_t)lbx__get_le32(bytes + 44),
    };
    return LBX_OK;
}

lbx_status
lbx__move_task_read_all(lbx__rules *rules, uint64_t from,
                        lbx__move_task ret[LBX__MOVE_TASKS_MAX],
                        size_t *ret_count)
{
    uint64_t number = 0;
    lbx_status status = LBX_OK;

    for (*ret_count = 0; *ret_count < LBX__MOVE_TASKS_MAX; ++*ret_count) {
        const lbx__key key = lbx__key_2(from, number);

        status = lbx__move_task_seek(rules, &key, 8, &ret[*ret_count]);
        if (status != LBX_OK)
            break;
        number = ret[*ret_count].number + 1;
    }
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}
