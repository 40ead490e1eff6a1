/* SPDX-License-Identifier: Apache-2.0 */
/* A store that the users of a group share (FOLD-1). */
#include "letters.h"

#include "fixture.h"
#include "stores/file/file_store.h"
#include <letterbox/post/file_store.h>

#include <grp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    USERS = 4242, /* the group */
    OTHERS = 4243
};

/* A folder in which every user may make "shop". False: only root can try. */
static bool
group_prepare(void)
{
    const char *path = test_path();

    if (geteuid() != 0) {
        test_note("not root: cannot be other users");
        return false;
    }
    CHECK(mkdir(path, 0700) == 0 && chmod(path, 0777) == 0);
    CHECK(chdir(path) == 0);
    return true;
}

/* In a child: `also` is a second group. */
static void
group_become(uid_t user, gid_t group, gid_t also)
{
    CHECK(setgroups(1, &also) == 0 && setegid(group) == 0);
    CHECK(seteuid(user) == 0);
    CHECK(prctl(PR_SET_DUMPABLE, 1) == 0); // for LSan
    (void)umask(077);
}

static lbx_status
group_try(bool group, lbx_fault *fault, lbx__storage **ret)
{
    lbx_store_options options = fixture_options();

    options.group = group;
    options.fault = fault;
    return lbx__file_open("shop", &options, NULL, ret);
}

static void
group_check_mode(const char *name, mode_t mode)
{
    struct stat found;

    CHECK(stat(name, &found) == 0);
    if ((found.st_mode & 07777) != mode || found.st_gid != USERS)
        FAIL("%s: %o, %u", name, found.st_mode, found.st_gid);
}

static void
group_hold_open(int to)
{
    lbx_store_options options = fixture_options();
    lbx__storage *storage;
    lbx_store *store;

    group_become(5001, USERS, USERS);
    CHECK_OK(group_try(true, NULL, &storage));
    CHECK_OK(store_text(storage, "a", "1"));
    lbx__storage_close(storage);
    group_check_mode("shop", 02770);
    group_check_mode("shop/data.mdb", 0660);
    group_check_mode("shop/lock.mdb", 0660);
    group_check_mode("shop/journal", 0660);
    group_check_mode("shop/wake", 0660);
    options.group = true;
    CHECK_OK(lbx__file_store_open("shop", &options, NULL, &store));
    say(to);
    for (;;)
        pause();
}

static void
group_join(int to)
{
    lbx_file_store_work work = LBX_FILE_STORE_WORK_INIT;
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    lbx_fault fault = {LBX_OK, ""};
    lbx__storage *storage;

    (void)to;
    group_become(5002, OTHERS, USERS);
    CHECK_STATUS(LBX_DENIED, group_try(false, &fault, &storage));
    CHECK(strstr(fault.text, "options.group is not set"));
    CHECK_STATUS(LBX_DENIED, lbx_file_store_check("shop", NULL, NULL, &report));
    work.group = true;
    // It reads it; "a" is no letter.
    CHECK_STATUS(LBX_CORRUPT,
                 lbx_file_store_check_with("shop", &work, &report));
    CHECK_OK(group_try(true, &fault, &storage));
    check_text(storage, "a", "1");
    CHECK_OK(store_text(storage, "a", "2"));
    lbx__storage_close(storage);
}

static void
group_be_refused(int to)
{
    lbx_fault fault = {LBX_OK, ""};
    lbx__storage *storage;

    (void)to;
    group_become(5003, OTHERS, OTHERS);
    CHECK_STATUS(LBX_DENIED, group_try(true, &fault, &storage));
}

/* It makes the files that are missing. */
static void
group_come_back(int to)
{
    lbx_store_options options = fixture_options();
    lbx__storage *storage;

    (void)to;
    group_become(5002, USERS, OTHERS);
    options.group = true;
    CHECK(unlink("shop/lock.mdb") == 0 && unlink("shop/wake") == 0);
    storage = fixture_open("shop", &options, NULL);
    check_text(storage, "a", "2");
    CHECK_OK(store_text(storage, "a", "1"));
    lbx__storage_close(storage);
    group_check_mode("shop/lock.mdb", 0660);
    group_check_mode("shop/wake", 0660);
}

TEST(users_of_a_group_share_a_store_that_is_opened_for_it)
{
    lbx_fault fault = {LBX_OK, ""};
    lbx__storage *storage;
    struct child owner;

    if (!group_prepare())
        return;
    owner = spawn_ready(group_hold_open);
    await_end(spawn(group_join));
    await_end(spawn(group_be_refused));
    // The system lets root in, which is not in the group.
    CHECK_STATUS(LBX_DENIED, group_try(true, &fault, &storage));
    CHECK(strstr(fault.text, "shop belongs to someone else"));
    kill_child(owner);
    await_end(spawn(group_come_back));
    await_end(spawn(group_join)); // the files of another user
}

/* A folder that was there keeps its mode, and decides who its files are for. */
static void
group_use_private(int to)
{
    struct stat found;
    lbx__storage *storage;

    (void)to;
    group_become(5001, USERS, USERS);
    CHECK(mkdir("shop", 0700) == 0);
    CHECK_OK(group_try(true, NULL, &storage));
    lbx__storage_close(storage);
    CHECK(stat("shop/data.mdb", &found) == 0);
    CHECK_INT(0600, found.st_mode & 07777);
}

/* Its group is not that of the user's other files. */
static void
group_use_chosen(int to)
{
    lbx__storage *storage;

    (void)to;
    group_become(5001, OTHERS, USERS);
    CHECK(chown("shop", (uid_t)-1, USERS) == 0 && chmod("shop", 0770) == 0);
    CHECK(unlink("shop/wake") == 0);
    CHECK_OK(group_try(true, NULL, &storage));
    lbx__storage_close(storage);
    group_check_mode("shop/wake", 0660);
    group_check_mode("shop/data.mdb", 0660);
}

TEST(a_folder_that_is_there_says_whether_its_group_may_use_the_store)
{
    if (!group_prepare())
        return;
    await_end(spawn(group_use_private));
    await_end(spawn(group_use_chosen));
    await_end(spawn(group_be_refused));
}
