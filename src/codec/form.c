/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting and decoding forms; see form.h. */
#include "codec/form.h"

lbx__form
lbx__form_of(lbx__slice bytes)
{
    // NULL + 0 is undefined in C.
    return (lbx__form){bytes.bytes,
                       bytes.bytes ? bytes.bytes + bytes.size : NULL};
}

/* The bytes up to `end` or a separator, whichever comes first. */
static lbx__slice
form_until(const char *start, const char *end, char separator)
{
    const char *found = memchr(start, separator, (size_t)(end - start));

    return (lbx__slice){start, (size_t)((found ? found : end) - start)};
}

bool
lbx__form_next(lbx__form *form, lbx__slice *name, lbx__slice *value)
{
    while (form->at < form->end) {
        const lbx__slice field = form_until(form->at, form->end, '&');
        const char *end = field.bytes + field.size;

        form->at = end < form->end ? end + 1 : end;
        if (field.size == 0)
            continue;
        *name = form_until(field.bytes, end, '=');
        *value = (lbx__slice){name->bytes + name->size, 0};
        if (name->size < field.size) {
            value->bytes++;
            value->size = field.size - name->size - 1;
        }
        return true;
    }
    return false;
}

/* The value of a hexadecimal digit; -1 for anything else. */
static int
form_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)(digit | ('A' ^ 'a'));
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool
lbx__form_decode(lbx__slice text, char *out, size_t *ret_size)
{
    size_t size = 0;

    for (size_t i = 0; i < text.size; i++) {
        char byte = text.bytes[i];

        if (byte == '%') {
            const bool whole = text.size - i > 2;
            const int high = whole ? form_digit(text.bytes[i + 1]) : -1;
            const int low = whole ? form_digit(text.bytes[i + 2]) : -1;

            if (high < 0 || low < 0)
                return false;
            byte = (char)(high << 4 | low);
            i += 2;
        } else if (byte == '+') {
            byte = ' ';
        }
        out[size++] = byte;
    }
    *ret_size = size;
    return true;
}
