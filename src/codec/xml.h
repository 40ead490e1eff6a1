/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts in XML 1.0.
 *
 * XML-1  What lbx__xml_text() writes is well-formed, whatever the bytes are: &
 *        < > " and the carriage return, which a parser would make a line feed,
 *        are escaped; each byte or character that XML does not allow becomes
 *        U+FFFD.
 */
#ifndef LBX_CODEC_XML_H
#define LBX_CODEC_XML_H

#include "base/buffer.h"
#include "base/slice.h"

void lbx__xml_text(lbx_buffer *out, lbx__slice text);

/* Whether a text is UTF-8 and has only characters that XML 1.0 allows. */
bool lbx__xml_is_text(lbx__slice text);

#endif
