/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_POST_H
#define LETTERBOX_POST_H
#include <letterbox/post/box.h>
#include <letterbox/post/draft.h>
#include <letterbox/post/file_store.h>
#include <letterbox/post/letter.h>
#include <letterbox/post/postbox.h>
#include <letterbox/post/resolver.h>
#include <letterbox/post/routes.h>
#include <letterbox/post/type_registry.h>
#include <letterbox/store.h>
#endif
