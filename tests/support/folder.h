/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of a test program's own, below $TMPDIR; gone, with what is in them,
 * when it ends. */
#ifndef LBX_TEST_SUPPORT_FOLDER_H
#define LBX_TEST_SUPPORT_FOLDER_H

/* A path where nothing is yet, good until the next call. */
const char *test_path(void);

/* Paths are in memory from now on, where that can be had: for tests that open a
 * thousand stores, and do not ask for the disk. Before the first path. */
void test_paths_in_memory(void);

#endif
