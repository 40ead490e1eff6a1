/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the program's files that keys.c does without: complaints must
 * have a text, and are not printed. */
#include "serve.h"
#include "target.h"

void
cli_complain(const char *format, ...)
{
    must_be(format[0] != '\0');
}

int
cli_complain_status(lbx_status status, const lbx_fault *fault, const char *what)
{
    must_be(status != LBX_OK && fault->text[0] && what);
    return CLI_FAILED;
}

int
cli_parse(struct cli_call *call, void *values)
{
    (void)call;
    (void)values;
    return CLI_RUN;
}

bool
cli_target_has_scheme(const char *url)
{
    return strncmp(url, "file:", 5) == 0 || strncmp(url, "memory:", 7) == 0;
}

const char *
serve_passed_socket(void)
{
    return NULL;
}
