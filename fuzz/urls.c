/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each input is read as the URL of a store, and as an address to listen at.
 * What is refused has a reason; what is accepted is written in its plainest
 * form, and read back as the same.
 */
#include "base/buffer.h"
#include "net/address.h"
#include "post/url.h"
#include "target.h"

#include <stdio.h>
#include <sys/un.h>

/* ---- URLs of stores ---- */

/* Every byte but the slash as %XX. */
static void
encode_url(const char *text, lbx_buffer *out)
{
    char byte[4];

    for (; *text; text++) {
        (void)snprintf(byte, sizeof(byte), *text == '/' ? "/" : "%%%02X",
                       (unsigned)(uint8_t)*text);
        (void)lbx_buffer_append_text(out, byte);
    }
}

static void
check_store_url(const char *text, size_t size)
{
    const size_t limit = 1 + size % 64; // so that some do not fit
    char *once = malloc(limit), *twice = malloc(limit);
    lbx_fault fault = {.text = ""};
    lbx_buffer encoded;

    must_be(once && twice);
    lbx__buffer_init(&encoded, NULL, 1 << 10);
    if (lbx__url_decode(text, text, once, limit, &fault) == LBX_OK) {
        must_be(strnlen(once, limit) < limit);
        encode_url(once, &encoded);
        must_be(lbx__url_decode(text, lbx__buffer_text(&encoded), twice, limit,
                                &fault) == LBX_OK &&
                strcmp(once, twice) == 0);
    } else {
        must_be(fault.text[0] != '\0');
    }
    lbx__buffer_fini(&encoded);
    free(once);
    free(twice);
}

/* ---- Addresses ---- */

static void
check_address(const char *text)
{
    lbx__address once, twice;
    lbx_fault fault = {.text = ""};
    char again[LBX__ADDRESS_TEXT];

    if (lbx__address_parse(text, &once, &fault) != LBX_OK) {
        must_be(fault.text[0] != '\0');
        return;
    }
    must_be(once.size <= sizeof(struct sockaddr_un));
    if (once.kind == LBX__ADDRESS_FD)
        (void)snprintf(again, sizeof(again), "fd:%d", once.fd);
    else
        lbx__address_print(&once.socket, once.size, again, sizeof(again));
    must_be(lbx__address_parse(again, &twice, &fault) == LBX_OK &&
            once.kind == twice.kind && once.size == twice.size &&
            once.fd == twice.fd &&
            memcmp(&once.socket, &twice.socket, sizeof(once.socket)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = copy_text(data, size);

    check_store_url(text, size);
    check_address(text);
    free(text);
    return 0;
}
