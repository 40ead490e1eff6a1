/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of a test program's own, below $TMPDIR; gone, with what is in them,
 * when it ends. */
#ifndef LBX_TEST_SUPPORT_FOLDER_H
#define LBX_TEST_SUPPORT_FOLDER_H

enum {
    TEST_PATH_BYTES = 480 /* the longest path with its 0 */
};

/* A path where nothing exists yet; the text stays until the process ends. */
const char *test_path(void);

/* Puts paths into memory (/dev/shm) if it has a gigabyte free: for tests that
 * open many stores or fill them. Tests of real flushes stay on the disk. Call
 * it before the first test_path(). */
void test_paths_in_memory(void);

#endif
