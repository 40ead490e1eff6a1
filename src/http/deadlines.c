/* SPDX-License-Identifier: Apache-2.0 */
#include "http/deadlines.h"

#include "base/time.h"

void
lbx__deadlines_init(lbx__deadlines *deadlines, lbx__loop *loop,
                    void (*passed)(lbx__deadline *deadline,
                                   lbx__deadline_kind kind))
{
    int kind;

    deadlines->loop = loop;
    deadlines->passed = passed;
    deadlines->armed_ns = LBX_FOREVER;
    for (kind = 0; kind < LBX__DEADLINE_KINDS; kind++)
        lbx__list_init(&deadlines->lists[kind]);
    lbx__timer_init(&deadlines->timer, loop);
}

void
lbx__deadlines_close(lbx__deadlines *deadlines,
                     void (*closed)(lbx__timer *timer))
{
    lbx__timer_close(&deadlines->timer, closed);
}

void
lbx__deadline_init(lbx__deadline *deadline)
{
    lbx__list_init(&deadline->link);
    deadline->kind = LBX__DEADLINE_NONE;
}

static lbx__deadline *
deadlines_first(lbx__deadlines *deadlines, int kind)
{
    lbx__link *list = &deadlines->lists[kind];

    return lbx__list_empty(list) ? NULL
                                 : lbx__member(list->next, lbx__deadline, link);
}

static void deadlines_on_fire(lbx__timer *timer);

static void
deadlines_arm(lbx__deadlines *deadlines, int64_t at_ns)
{
    int64_t left_ns = at_ns - lbx__loop_now_ns(deadlines->loop);

    deadlines->armed_ns = at_ns;
    lbx__timer_start(&deadlines->timer, left_ns > 0 ? left_ns : 0,
                     deadlines_on_fire);
}

static void
deadlines_on_fire(lbx__timer *timer)
{
    lbx__deadlines *deadlines = lbx__member(timer, lbx__deadlines, timer);
    int64_t now_ns = lbx__loop_now_ns(deadlines->loop), next_ns = LBX_FOREVER;
    lbx__deadline *first;
    int kind;

    deadlines->armed_ns = LBX_FOREVER;
    for (kind = 0; kind < LBX__DEADLINE_KINDS; kind++) {
        while ((first = deadlines_first(deadlines, kind)) &&
               first->at_ns <= now_ns) {
            lbx__deadlines_stop(first);
            deadlines->passed(first, (lbx__deadline_kind)kind);
        }
        if (first && first->at_ns < next_ns)
            next_ns = first->at_ns;
    }
    if (next_ns < deadlines->armed_ns)
        deadlines_arm(deadlines, next_ns);
}

void
lbx__deadlines_start(lbx__deadlines *deadlines, lbx__deadline *deadline,
                     lbx__deadline_kind kind)
{
    int64_t duration_ns = deadlines->durations_ns[kind];

    lbx__list_remove(&deadline->link);
    deadline->kind = kind;
    if (duration_ns <= 0)
        return;
    deadline->at_ns =
        lbx__time_add(lbx__loop_now_ns(deadlines->loop), duration_ns);
    lbx__list_append(&deadlines->lists[kind], &deadline->link);
    if (deadline->at_ns < deadlines->armed_ns) // DEADL-2
        deadlines_arm(deadlines, deadline->at_ns);
}

void
lbx__deadlines_stop(lbx__deadline *deadline)
{
    lbx__list_remove(&deadline->link);
    deadline->kind = LBX__DEADLINE_NONE;
}
