/* SPDX-License-Identifier: Apache-2.0 */
/* Children of a process that has a store open: what they inherit is not theirs,
 * and they keep nothing of it. */
#include "letters.h"

#include "support/test.h"

#include <sys/prctl.h>
#include <unistd.h>

static lbx_store *inherited;

static void
use_what_was_inherited(int to)
{
    lbx_postbox *postbox;
    lbx_store *mine;

    CHECK_STATUS(LBX_FORKED,
                 lbx_postbox_open_in(inherited, "orders", NULL, &postbox));
    lbx_store_unref(inherited);
    mine = open_store();
    CHECK_OK(lbx_postbox_open_in(mine, "orders", NULL, &postbox));
    take(postbox, "from the parent");
    lbx_postbox_unref(postbox);
    lbx_store_unref(mine);
    say(to);
}

TEST(a_child_opens_its_own)
{
    lbx_postbox *postbox;

    new_store_path();
    inherited = open_store();
    CHECK_OK(lbx_postbox_open_in(inherited, "orders", NULL, &postbox));
    mail(postbox, "from the parent");
    await_end(spawn_ready(use_what_was_inherited));
    lbx_postbox_unref(postbox);
    lbx_store_unref(inherited);
}

static void
leave_a_child(int to)
{
    pid_t child;

    (void)open_store();
    child = fork();
    CHECK(child >= 0);
    if (child > 0)
        CHECK(write(to, &child, sizeof(child)) == sizeof(child));
    for (;;)
        pause();
}

/* Locks belong to the open file description, which a child shares: a child that
 * never uses the store must not keep the locks of a parent that has ended. */
TEST(a_child_does_not_hold_its_parents_store)
{
    struct child owner, child;

    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    new_store_path();
    owner = spawn(leave_a_child);
    child.from = dup(owner.from);
    CHECK(read(owner.from, &child.pid, sizeof(pid_t)) == sizeof(pid_t));
    kill_child(owner);
    lbx_store_unref(open_store());
    kill_child(child);
}
