/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules over storage in memory, with a clock that the test moves; each call
 * is a batch of its own.
 *
 *     RIG(rig);
 *     lbx_box box = rig_create(rig, "box", NULL);
 *
 *     rig_send_each(rig, box, "ab");
 *     CHECK_STR("a b", rig_received(rig, box, 10, 30 * S));
 *     CHECK_INT(1, rig->got[0].deliveries);
 */
#ifndef LBX_TEST_RULES_FIXTURE_H
#define LBX_TEST_RULES_FIXTURE_H

#include "post/rules/receipt.h"
#include "post/rules/rules.h"
#include "support/clock.h"
#include "support/test.h"
#include "support/torture.h"

#define S LBX_SECOND

struct rig_got {
    char body[64];
    char id[40];
    char group[32];
    char deduplication_id[64];
    char source[32];
    uint8_t receipt[LBX__RECEIPT_PACKED];
    size_t receipt_bytes;
    uint64_t sequence;
    uint32_t deliveries;
    lbx_letter_state state;
    int64_t sent_ms, first_received_ms;
    size_t attributes;
};

struct rig {
    struct test_clock time;
    lbx_clock clock;
    lbx__storage *storage;
    lbx__storage_ops ops; /* as its own, but not private */
    lbx__rules *rules;

    struct rig_got got[64];
    uint32_t count;
    uint32_t before;   /* letters that the next receives have had already */
    uint32_t refuse;   /* so many deliveries go well, then NO_MEMORY; 0: all */
    lbx_status status; /* of the latest receive */
    lbx_sent_letter sent; /* of the latest send */

    lbx__box_change change; /* the last that the rules have noted */
    unsigned changes;       /* how many */
};

/* A rig that is destroyed at the end of its scope. */
#define RIG(name)                                                              \
    __attribute__((cleanup(rig_free))) struct rig *name = rig_new_in(NULL)

/* A test with a rig, `rig`. */
#define RIG_TEST(behaviours, name)                                             \
    static void name##_in(struct rig *rig);                                    \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        RIG(rig);                                                              \
                                                                               \
        name##_in(rig);                                                        \
    }                                                                          \
    static void name##_in(struct rig *rig)

struct rig *rig_new_in(const lbx_allocator *allocator);
void rig_free(struct rig **rig);
void rig_pass(struct rig *rig, int64_t ns);

/* The same store, opened again; or the status of opening it once more. */
void rig_reopen(struct rig *rig);
lbx_status rig_open_again(struct rig *rig);

#define RIG_CALL(rig, expression) (rig_begin(rig), rig_end((rig), (expression)))
void rig_begin(struct rig *rig);
lbx_status rig_end(struct rig *rig, lbx_status status);

lbx_box rig_create(struct rig *rig, const char *name,
                   const lbx_box_options *options);
lbx_status rig_delete(struct rig *rig, lbx_box box);
lbx_status rig_configure(struct rig *rig, lbx_box box,
                         const lbx_box_options *options);
uint64_t rig_purge(struct rig *rig, lbx_box box);
lbx_box_counts rig_counts(struct rig *rig, lbx_box box);

/* Until all background work is done. */
void rig_work(struct rig *rig);

/* A send of one: its status; the rest is in rig->sent. `each` sends every
 * character as a letter, and must succeed. */
lbx_status rig_send(struct rig *rig, lbx_box box, const char *body);
void rig_send_each(struct rig *rig, lbx_box box, const char *bodies);
lbx_status rig_send_in(struct rig *rig, lbx_box box, const char *body,
                       const char *group, const char *deduplication_id);
lbx_status rig_send_parcel(struct rig *rig, lbx_box box,
                           const lbx_parcel *parcel);

/* How many came, into rig->got; the status in rig->status, of a peek too. */
int rig_receive(struct rig *rig, lbx_box box, uint32_t max, int64_t lease);
int rig_attempt(struct rig *rig, lbx_box box, uint32_t max, int64_t lease,
                const char *attempt_id);
int rig_peek(struct rig *rig, lbx_box box);

/* By a delivery of rig->got, copied or not. */
lbx_status rig_ack(struct rig *rig, lbx_box box, const struct rig_got *got);
lbx_status rig_nack(struct rig *rig, lbx_box box, const struct rig_got *got,
                    int64_t delay);
lbx_status rig_extend(struct rig *rig, lbx_box box, const struct rig_got *got,
                      int64_t lease);
lbx_status rig_undo(struct rig *rig, lbx_box box, const struct rig_got *got);

/* The bodies that came last, "a b c"; those that a receive brings. */
const char *rig_bodies(const struct rig *rig);
const char *rig_received(struct rig *rig, lbx_box box, uint32_t max,
                         int64_t lease);

#endif
