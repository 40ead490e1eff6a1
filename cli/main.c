/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program `letterbox`: the table of commands, and which one to run.
 */
#include "commands.h"

#include <fcntl.h>
#include <letterbox/version.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int version_run(struct cli_call *call);
static int help_run(struct cli_call *call);

static const struct cli_option no_options[] = {{.name = NULL}};

static const struct cli_command version_command = {
    .name = "version",
    .arguments = "",
    .summary = "print the version",
    .details = "Prints the version of the program, and of the library it "
               "was built with.",
    .options = no_options,
    .examples = (const char *const[]){"the version", "letterbox version",
                                      "the same", "letterbox --version", NULL},
    .run = version_run,
};

static const struct cli_command help_command = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "list the commands, or explain one",
    .details = "Lists the commands, or explains one of them: its arguments, "
               "its options, two examples and the exit codes.",
    .options = no_options,
    .examples =
        (const char *const[]){"the commands", "letterbox help", "how to send",
                              "letterbox help send", NULL},
    .most_arguments = 1,
    .run = help_run,
};

const struct cli_command *const cli_commands[] = {
#ifdef CLI_HAS_SERVE
    &cli_serve_command,
#endif
    &cli_send_command,   &cli_receive_command, &cli_ack_command,
    &cli_nack_command,   &cli_extend_command,  &cli_peek_command,
    &cli_ls_command,     &cli_stat_command,    &cli_create_command,
    &cli_delete_command, &cli_purge_command,   &cli_move_command,
    &cli_check_command,  &cli_copy_command,    &cli_salvage_command,
    &version_command,    &help_command,        NULL,
};

static int
version_print(void)
{
    printf("letterbox %s\n", LBX_VERSION);
    if (strcmp(LBX_VERSION, lbx_version()) != 0)
        printf("library %s\n", lbx_version());
    return CLI_OK;
}

static int
version_run(struct cli_call *call)
{
    const int code = cli_parse(call, NULL);

    return code == CLI_RUN ? version_print() : code;
}

static const char *
main_name_at(const void *list, size_t index)
{
    (void)list;
    return cli_commands[index] ? cli_commands[index]->name : NULL;
}

static int
main_unknown(const char *name)
{
    const char *near;

    if (name[0] == '-') {
        cli_complain("%s: the command comes first: letterbox COMMAND "
                     "[OPTION...]",
                     name);
    } else {
        near = cli_nearest(name, main_name_at, NULL);
        if (near)
            cli_complain("no command '%s'; is it %s?", name, near);
        else
            cli_complain("no command '%s'", name);
    }
    cli_complain("see: letterbox help");
    return CLI_USAGE;
}

static int
help_run(struct cli_call *call)
{
    const struct cli_command *command;
    const int code = cli_parse(call, NULL);

    if (code != CLI_RUN)
        return code;
    if (call->argument_count == 0)
        return cli_help_all();
    command = cli_command_find(call->arguments[0]);
    return command ? cli_help_command(command)
                   : main_unknown(call->arguments[0]);
}

static int
main_run(int argc, char **argv)
{
    struct cli_call call = {.argc = argc - 1, .argv = argv + 1};

    if (argc < 2) {
        cli_complain("no command was given");
        cli_complain("see: letterbox help");
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return cli_help_all();
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return version_print();
    call.command = cli_command_find(argv[1]);
    return call.command ? call.command->run(&call) : main_unknown(argv[1]);
}

/* A descriptor that the caller has closed would be given to a file of a store,
 * and what is printed would go there. */
static bool
main_has_standard_files(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    return fd >= 0 && close(fd) == 0;
}

int
main(int argc, char **argv)
{
    int code;

    if (!main_has_standard_files())
        return CLI_FAILED;
    // A reader that has gone is a failed write, after which letters can still
    // be put back.
    signal(SIGPIPE, SIG_IGN);
    code = main_run(argc, argv);
    if (fflush(stdout) != 0 && code == CLI_OK) // help and versions
        code = CLI_PIPE;
    if (code == CLI_PIPE) {
        // As every other program in a pipe whose reader has what it wants.
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return code;
}
