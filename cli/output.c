/* SPDX-License-Identifier: Apache-2.0 */
/* Writing to standard output: see output.h. */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SOME_BYTES = 64 << 10
};

static bool
out_may_color(void)
{
    const char *off = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    return !(off && *off) && term && strcmp(term, "dumb") != 0;
}

int
cli_out_open(struct cli_out *out, bool json)
{
    const bool terminal = isatty(STDOUT_FILENO) == 1;

    *out = (struct cli_out){.signal_fd = -1};
    out->style = json ? CLI_JSON : terminal ? CLI_HUMAN : CLI_PLAIN;
    out->color = out->style == CLI_HUMAN && out_may_color();
    out->stream = open_memstream(&out->text, &out->size_bytes);
    if (!out->stream) {
        cli_complain("%s", lbx_status_text(LBX_NO_MEMORY));
        return CLI_TEMPORARY;
    }
    return CLI_OK;
}

/* Waits until a write does not block; false when a signal has come. Without
 * signals to look for, the write itself may wait. */
static bool
out_wait(struct cli_out *out)
{
    struct pollfd fds[2] = {
        {.fd = STDOUT_FILENO, .events = POLLOUT},
        {.fd = out->signal_fd, .events = POLLIN},
    };

    if (out->signal_fd < 0)
        return true;
    while (poll(fds, 2, -1) < 0) {
        if (errno != EINTR)
            return true;
    }
    // What can be written is written, so that a stop does not cut a letter
    // that the reader has space for.
    if (fds[0].revents)
        return true;
    out->signal = cli_signals_take(out->signal_fd);
    return out->signal == 0;
}

static bool
out_write(struct cli_out *out, const char *bytes, size_t size)
{
    while (size > 0) {
        // A pipe that is ready takes that much without blocking.
        const size_t most = out->signal_fd < 0 ? size : PIPE_BUF;
        ssize_t written;

        if (!out_wait(out))
            return false;
        written = write(STDOUT_FILENO, bytes, size < most ? size : most);
        if (written < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (written < 0) {
            out->error = errno;
            out->gone = errno == EPIPE;
            return false;
        }
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

bool
cli_out_flush(struct cli_out *out)
{
    bool fine;

    if (out->error || out->signal)
        return false;
    if (fflush(out->stream) != 0 || ferror(out->stream)) {
        out->error = ENOMEM;
        return false;
    }
    fine = out_write(out, out->text, out->size_bytes);
    rewind(out->stream);
    return fine;
}

bool
cli_out_flush_some(struct cli_out *out)
{
    return ftello(out->stream) < SOME_BYTES || cli_out_flush(out);
}

int
cli_out_close(struct cli_out *out, int code)
{
    cli_out_flush(out);
    fclose(out->stream);
    free(out->text);
    if (out->gone)
        return CLI_PIPE;
    if (out->error) {
        cli_complain("cannot write to standard output: %s",
                     strerror(out->error));
        return CLI_FAILED;
    }
    return code;
}

const char *
cli_out_bold(const struct cli_out *out)
{
    return out->color ? "\033[1m" : "";
}

const char *
cli_out_dim(const struct cli_out *out)
{
    return out->color ? "\033[2m" : "";
}

const char *
cli_out_red(const struct cli_out *out)
{
    return out->color ? "\033[31m" : "";
}

const char *
cli_out_normal(const struct cli_out *out)
{
    return out->color ? "\033[0m" : "";
}
