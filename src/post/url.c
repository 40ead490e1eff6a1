/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding URLs: see url.h. */
#include "post/url.h"

#include "base/fault.h"

#include <string.h>

/* The value of a hexadecimal digit; -1. */
static int
url_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that %XX stands for; -1 when it stands for none. */
static int
url_byte(const char *percent)
{
    const int high = url_digit(percent[1]);
    const int low = high < 0 ? -1 : url_digit(percent[2]);

    return low < 0 ? -1 : high * 16 + low;
}

/* Whether a URL has something that is not understood. */
static lbx_status
url_check(const char *url, const char *text, lbx_fault *fault)
{
    char shown[LBX__FAULT_QUOTED_BYTES];
    const char *mark = strpbrk(text, "?#");

    if (text[0] == '~')
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s: ~ is not expanded here: write the folder in "
                              "full; a name begins with ~ as %%7E",
                              lbx__fault_quote(url, shown));
    if (mark)
        return lbx__fault_set(
            fault, LBX_INVALID,
            "%s: nothing follows a %c: options are members of "
            "lbx_postbox_options and lbx_store_options; in a name write it as "
            "%%%X",
            lbx__fault_quote(url, shown), *mark, (unsigned)*mark);
    return LBX_OK;
}

lbx_status
lbx__url_decode(const char *url, const char *text, char *decoded,
                size_t size_bytes, lbx_fault *fault)
{
    char shown[LBX__FAULT_QUOTED_BYTES];
    size_t size = 0;
    lbx_status status = url_check(url, text, fault);

    for (; status == LBX_OK && *text && size + 1 < size_bytes; text++) {
        int byte = (unsigned char)*text;

        if (byte == '%') {
            byte = url_byte(text);
            if (byte <= 0 || byte == '/')
                return lbx__fault_set(
                    fault, LBX_INVALID,
                    "%s: %.3s stands for no character of a name: allowed are "
                    "%%01 to %%FF without %%2F, and %%25 for %% itself",
                    lbx__fault_quote(url, shown), text);
            text += 2;
        }
        decoded[size++] = (char)byte;
    }
    decoded[size] = '\0';
    if (status == LBX_OK && *text)
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s: more than %zu bytes after the colon",
                              lbx__fault_quote(url, shown), size_bytes - 1);
    return status;
}
