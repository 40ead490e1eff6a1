/* SPDX-License-Identifier: Apache-2.0 */
/* The commands; each is in the file of its name, or the one that is said. */
#ifndef LBX_CLI_COMMANDS_H
#define LBX_CLI_COMMANDS_H

#include "cli.h"

extern const struct cli_command cli_send_command;
extern const struct cli_command cli_receive_command;
extern const struct cli_command cli_ack_command; /* settle.c */
extern const struct cli_command cli_nack_command;
extern const struct cli_command cli_extend_command;
extern const struct cli_command cli_peek_command;
extern const struct cli_command cli_ls_command;
extern const struct cli_command cli_stat_command;
extern const struct cli_command cli_create_command;
extern const struct cli_command cli_delete_command;
extern const struct cli_command cli_purge_command; /* delete.c */
extern const struct cli_command cli_move_command;
extern const struct cli_command cli_check_command;
extern const struct cli_command cli_copy_command;    /* check.c */
extern const struct cli_command cli_salvage_command; /* check.c */
#ifdef CLI_HAS_SERVE
extern const struct cli_command cli_serve_command;
#endif

#endif
