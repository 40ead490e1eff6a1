/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receipts as text. The corpus has one that is good under this key; what else
 * is accepted must be what the store would have written, to the letter.
 */
#include "post/rules/receipt.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char key[] = "a store's key";
    char *text = malloc(size + 1), again[LBX__RECEIPT_TEXT];
    lbx__mac *mac = NULL;
    lbx__receipt receipt;

    if (!text || lbx__mac_create(NULL, key, sizeof(key) - 1, &mac) != LBX_OK)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (lbx__receipt_parse(mac, text, &receipt) == LBX_OK) {
        if (lbx__receipt_text(mac, &receipt, again) != LBX_OK ||
            strcmp(text, again) != 0)
            abort();
    }
    lbx__mac_destroy(mac);
    free(text);
    return 0;
}
