/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_LETTERBOX_H
#define LETTERBOX_LETTERBOX_H
#include <letterbox/actor.h>
#include <letterbox/base.h>
#include <letterbox/courier.h>
#include <letterbox/mailbox.h>
#include <letterbox/mailbox/messages.h>
#include <letterbox/operation.h>
#include <letterbox/post.h>
#include <letterbox/settings.h>
#include <letterbox/store.h>
#include <letterbox/type.h>
#include <letterbox/version.h>
#endif
