/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version these headers belong to, made from meson.build.
 */
#ifndef LETTERBOX_VERSION_H
#define LETTERBOX_VERSION_H

#define LBX_VERSION       "0.1.0"
#define LBX_VERSION_MAJOR 0
#define LBX_VERSION_MINOR 1
#define LBX_VERSION_PATCH 0

#endif
