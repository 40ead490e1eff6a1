/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that can lose its power: a Linux kernel as a process
 * (user-mode-linux), with an ext4 on an image file for its disk. Killing it is
 * the power cut: what its kernel had not written to the image is gone.
 */
#ifndef LBX_TEST_POWER_MACHINE_H
#define LBX_TEST_POWER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct machine {
    char folder[512];
    pid_t process; /* and its group */
    int console;
    char text[8192]; /* of the console, not yet read as lines */
    size_t size;
};

/* Makes the disk, in a new folder. */
void machine_make(struct machine *machine, const char *folder);

/* Starts it: mounts the disk at /mnt/disk, and runs the command. */
void machine_start(struct machine *machine, const char *command);

/* Reports whether programs run in it at all: the user-mode Linux of Debian 12
 * cannot restore the registers of a processor with AMX, and its kernel panics
 * at the first instruction of the first program. Anything else that keeps it
 * from running fails the test. After machine_make(). */
bool machine_runs(struct machine *machine);

/* The next line of the console; false when there is none within `wait_ms`, or
 * ever again. */
bool machine_line(struct machine *machine, char *line, size_t size,
                  int wait_ms);

/* Cuts the power: everything that is left of it is dead after this. Lines that
 * had left it can still be read. */
void machine_cut(struct machine *machine);

/* After that, when the lines have been read. */
void machine_end(struct machine *machine);

#endif
