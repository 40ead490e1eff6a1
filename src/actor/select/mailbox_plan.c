/* SPDX-License-Identifier: Apache-2.0 */
/* Mailboxes of the settings. B1 and B2 are in mailboxes.h. */
#include "actor/select/mailbox_plan.h"

#include "actor/select/blame.h"
#include "base/alloc.h"
#include "base/lock.h"
#include <string.h>

enum {
    PATH_BYTES = 512,
    MOST_MAILBOXES = UINT16_MAX,
};

static const char capacity_prefix[] = "bounded-capacity:";

struct lbx__mailbox_plans {
    const lbx_allocator *allocator;
    const lbx_settings *settings;
    const lbx_settings *usual; /* the default mailbox */
    const lbx__mailbox_types *types;
    lbx__lock lock;
    _Atomic(lbx__mailbox_plan *) first;
    uint16_t count; /* under the lock */
};

lbx_status
lbx__mailbox_plans_create(const lbx_allocator *allocator,
                          const lbx_settings *settings,
                          const lbx__mailbox_types *types,
                          lbx__mailbox_plans **ret)
{
    lbx__mailbox_plans *mailboxes = lbx__zalloc(allocator, sizeof(*mailboxes));

    if (!mailboxes)
        return LBX_NO_MEMORY;
    mailboxes->allocator = allocator;
    mailboxes->settings = settings;
    mailboxes->usual =
        lbx_settings_at(settings, "letterbox.actor.default-mailbox");
    mailboxes->types = types;
    *ret = mailboxes;
    return LBX_OK;
}

static void
free_mailbox(lbx__mailbox_plans *mailboxes, lbx__mailbox_plan *mailbox)
{
    const lbx_mailbox_type *user = mailbox->type.user;

    if (user && user->release && lbx__init_once_is_done(&mailbox->once))
        user->release(user->context, &mailbox->options);
    lbx_settings_unref(mailbox->merged);
    lbx__free(mailboxes->allocator, mailbox, mailbox->size_bytes);
}

void
lbx__mailbox_plans_destroy(lbx__mailbox_plans *mailboxes)
{
    lbx__mailbox_plan *mailbox;

    if (!mailboxes)
        return;
    mailbox = lbx__peek(&mailboxes->first);
    while (mailbox) {
        lbx__mailbox_plan *next = mailbox->next;

        free_mailbox(mailboxes, mailbox);
        mailbox = next;
    }
    lbx__free(mailboxes->allocator, mailboxes, sizeof(*mailboxes));
}

/* Sections are told apart by where they are, other ids by their text. */
static bool
is_same(const lbx__mailbox_plan *mailbox, const char *id,
        const lbx_settings *section)
{
    return mailbox->section == section &&
           (section || strcmp(mailbox->id, id) == 0);
}

static lbx__mailbox_plan *
look_up(lbx__mailbox_plans *mailboxes, const char *id,
        const lbx_settings *section)
{
    // Acquire: B2, pairs with the release in get().
    lbx__mailbox_plan *mailbox = lbx__load(&mailboxes->first, acquire);

    while (mailbox && !is_same(mailbox, id, section))
        mailbox = mailbox->next;
    return mailbox;
}

/* The entry of an id, new if need be; NULL: no memory. */
static lbx__mailbox_plan *
get(lbx__mailbox_plans *mailboxes, const char *id, const lbx_settings *section)
{
    lbx__mailbox_plan *mailbox = look_up(mailboxes, id, section);
    size_t size_bytes = sizeof(*mailbox) + strlen(id) + 1;

    if (mailbox)
        return mailbox;
    lbx__lock_take(&mailboxes->lock);
    mailbox = look_up(mailboxes, id, section);
    if (!mailbox && mailboxes->count < MOST_MAILBOXES)
        mailbox = lbx__zalloc(mailboxes->allocator, size_bytes);
    if (mailbox && !mailbox->id) {
        mailbox->size_bytes = size_bytes;
        mailbox->id = memcpy(mailbox + 1, id, strlen(id) + 1);
        mailbox->section = section;
        mailbox->number = ++mailboxes->count;
        mailbox->next = lbx__peek(&mailboxes->first);
        // Release: B2.
        lbx__store(&mailboxes->first, mailbox, release);
    }
    lbx__lock_give(&mailboxes->lock);
    return mailbox;
}

const lbx__mailbox_plan *
lbx__mailbox_plans_by_number(lbx__mailbox_plans *mailboxes, uint16_t number)
{
    // Acquire: B2.
    lbx__mailbox_plan *mailbox = lbx__load(&mailboxes->first, acquire);

    while (mailbox && mailbox->number != number)
        mailbox = mailbox->next;
    return mailbox;
}

/* What it can do depends on its options too. */
static void
judge(lbx__mailbox_plan *mailbox)
{
    const lbx_mailbox_options *options = &mailbox->options;
    uint32_t capabilities = mailbox->type.capabilities;

    capabilities &= ~(uint32_t)LBX_CAN_BLOCK;
    if (lbx_mailbox_options_limit(options->capacity_messages, -1) > 0)
        capabilities |= LBX_CAN_BOUND;
    if ((capabilities & LBX_CAN_BOUND) && options->overflow == LBX_BLOCK)
        capabilities |= LBX_CAN_BLOCK;
    mailbox->capabilities = capabilities;
}

void
lbx__mailbox_plan_set_options(lbx__mailbox_plan *mailbox,
                              const lbx_mailbox_options *options)
{
    mailbox->options = *options;
    if (!mailbox->options.kinds)
        mailbox->options.kinds = mailbox->type.kinds;
    mailbox->in_cell = false;
    judge(mailbox);
}

/* what a full mailbox does about the push timeout. */
static void
set_wait(lbx_mailbox_options *options, int64_t wait_ns)
{
    options->overflow = wait_ns == 0 ? LBX_DROP_NEWEST : LBX_BLOCK;
    options->wait_ns = wait_ns;
    options->after_wait = LBX_DROP_NEWEST;
}

/* Fills the options in from a checked section. `own` is it before what it lacks
 * was added: only there can a user's storage be given a capacity. */
static lbx_status
read_options(lbx__mailbox_plan *mailbox, const lbx_settings *whole,
             const lbx_settings *own, lbx_fault *fault)
{
    lbx_mailbox_options *options = &mailbox->options;
    int64_t capacity, wait_ns;
    lbx_status status =
        lbx_settings_read_integer(whole, "mailbox-capacity", fault, &capacity);

    if (status == LBX_OK)
        status = lbx_settings_read_duration(whole, "mailbox-push-timeout-time",
                                            fault, &wait_ns);
    if (status == LBX_OK)
        status = lbx_settings_read_boolean(whole, "mailbox-timestamps", fault,
                                           &options->timestamps);
    if (status != LBX_OK)
        return status;
    mailbox->in_cell = mailbox->type.in_cell && !options->timestamps;
    set_wait(options, mailbox->type.never_waits ? 0 : wait_ns);
    if (mailbox->type.is_unlimited ||
        (!mailbox->type.is_limited &&
         !lbx_settings_has(own, "mailbox-capacity")))
        return LBX_OK;
    if (capacity < 1)
        return lbx__blame(fault, LBX_INVALID,
                          lbx_settings_at(whole, "mailbox-capacity"),
                          "0 is too small; at least 1 is allowed");
    options->capacity_messages = capacity;
    return LBX_OK;
}

/* the named section, its id, and what it lacks from the default. Of the
 * default itself, only a user's type would look at the id. */
static lbx_status
merge(lbx__mailbox_plans *mailboxes, lbx__mailbox_plan *mailbox)
{
    const lbx_settings *section = mailbox->section;
    lbx_settings *filled;
    lbx_status status;

    mailbox->whole = mailboxes->usual;
    if ((!section || section == mailboxes->usual) && !mailbox->type.user)
        return LBX_OK;
    status =
        lbx_settings_merge(section ? section : mailboxes->usual,
                           mailboxes->usual, mailboxes->allocator, &filled);
    if (status != LBX_OK)
        return status;
    status =
        lbx_settings_with_string(filled, "id", mailbox->id, &mailbox->merged);
    lbx_settings_unref(filled);
    mailbox->whole = mailbox->merged;
    return status;
}

static lbx_status
find_type(lbx__mailbox_plans *mailboxes, lbx__mailbox_plan *mailbox,
          lbx_fault *fault)
{
    const char *name = mailbox->id;
    const lbx_settings *at = NULL;

    if (mailbox->section) {
        at = lbx_settings_at(mailbox->section, "mailbox-type");
        if (!at)
            at = lbx_settings_at(mailboxes->usual, "mailbox-type");
        name = lbx_settings_text(at);
        if (!*name)
            return lbx__blame(fault, LBX_INVALID, at,
                              "the mailbox-type of %s is empty", mailbox->id);
    }
    if (!lbx__mailbox_types_find(mailboxes->types, name, &mailbox->type))
        return lbx__blame(fault, LBX_NOT_FOUND, at,
                          "there is no mailbox type '%s', which %s is of", name,
                          mailbox->id);
    return LBX_OK;
}

/* Asks the user's type. */
static lbx_status
ask_user(lbx__mailbox_plan *mailbox, lbx_fault *fault)
{
    const lbx_mailbox_type *user = mailbox->type.user;
    lbx_fault own = {.status = LBX_OK};
    lbx_status status;

    if (!user || !user->configure)
        return LBX_OK;
    status =
        user->configure(user->context, mailbox->whole, &mailbox->options, &own);
    if (status == LBX_OK)
        return LBX_OK;
    if (own.text[0])
        return lbx__blame(fault, status, NULL, "mailbox %s: %s", mailbox->id,
                          own.text);
    return lbx__blame(fault, status, mailbox->section,
                      "mailbox type %s does not take this: %s", user->name,
                      lbx_status_text(status));
}

static lbx_status
configure(lbx__mailbox_plans *mailboxes, lbx__mailbox_plan *mailbox,
          lbx_fault *fault)
{
    lbx_status status = find_type(mailboxes, mailbox, fault);

    if (status == LBX_OK)
        status = merge(mailboxes, mailbox);
    if (status == LBX_OK && mailbox->section)
        status =
            lbx__section_check(mailbox->section, mailbox->type.user, fault);
    if (status != LBX_OK)
        return status;
    mailbox->options = lbx_mailbox_options_profile(LBX_PROFILE_AKKA);
    mailbox->options.name = mailbox->id;
    mailbox->options.kinds = mailbox->type.kinds;
    mailbox->stash_capacity = LBX_DEFAULT;
    if (mailbox->section && mailbox->section != mailboxes->usual)
        status = lbx_settings_read_integer_or(mailbox->section,
                                              "stash-capacity", LBX_DEFAULT,
                                              fault, &mailbox->stash_capacity);
    if (status == LBX_OK)
        status = read_options(mailbox, mailbox->whole, mailbox->section, fault);
    if (status == LBX_OK)
        status = ask_user(mailbox, fault);
    if (status == LBX_OK)
        judge(mailbox);
    return status;
}

static lbx_status
configure_once(lbx__mailbox_plans *mailboxes, lbx__mailbox_plan *mailbox,
               lbx_fault *fault)
{
    lbx_status status;

    if (!lbx__init_once_begin(&mailbox->once))
        return LBX_OK;
    status = configure(mailboxes, mailbox, fault);
    if (status != LBX_OK) {
        lbx_settings_unref(mailbox->merged);
        mailbox->merged = NULL;
    }
    lbx__init_once_end(&mailbox->once, status == LBX_OK);
    return status;
}

static lbx_status
find(lbx__mailbox_plans *mailboxes, const char *id, const lbx_settings *section,
     lbx_fault *fault, const lbx__mailbox_plan **ret)
{
    lbx__mailbox_plan *mailbox = get(mailboxes, id, section);
    lbx_status status;

    if (!mailbox)
        return lbx__blame(fault, LBX_NO_MEMORY, section, "out of memory");
    status = configure_once(mailboxes, mailbox, fault);
    if (status == LBX_OK)
        *ret = mailbox;
    return status;
}

lbx_status
lbx__mailbox_plans_of_section(lbx__mailbox_plans *mailboxes,
                              const lbx_settings *section, lbx_fault *fault,
                              const lbx__mailbox_plan **ret)
{
    char id[PATH_BYTES];

    (void)lbx_settings_path(section, id, sizeof(id));
    return find(mailboxes, id, section, fault, ret);
}

/* */
static lbx_status
make_bounded(lbx__mailbox_plans *mailboxes, const char *id,
             const lbx_settings *at, lbx_fault *fault, lbx__mailbox_plan *room)
{
    const char *digit = id + sizeof(capacity_prefix) - 1;
    int64_t capacity = *digit ? 0 : -1;

    for (; *digit; digit++) {
        if (*digit < '0' || *digit > '9' || capacity > INT32_MAX)
            capacity = -1;
        if (capacity < 0)
            break;
        capacity = capacity * 10 + (*digit - '0');
    }
    if (capacity < 1)
        return lbx__blame(fault, LBX_INVALID, at,
                          "mailbox %s: the capacity must be a whole number, at "
                          "least 1",
                          id);
    *room = (lbx__mailbox_plan){.id = id, .stash_capacity = LBX_DEFAULT};
    (void)lbx__mailbox_types_find(mailboxes->types, LBX_KIND_BOUNDED,
                                  &room->type);
    room->options = lbx_mailbox_options_profile(LBX_PROFILE_AKKA);
    room->options.capacity_messages = capacity;
    set_wait(&room->options, 0);
    judge(room);
    return LBX_OK;
}

lbx_status
lbx__mailbox_plans_find(lbx__mailbox_plans *mailboxes, const char *id,
                        const lbx_settings *at, lbx_fault *fault,
                        lbx__mailbox_plan *room, const lbx__mailbox_plan **ret)
{
    const lbx_settings *section = NULL;
    lbx__mailbox_type type;

    if (strncmp(id, capacity_prefix, sizeof(capacity_prefix) - 1) == 0) {
        lbx_status status = make_bounded(mailboxes, id, at, fault, room);

        if (status == LBX_OK)
            *ret = room;
        return status;
    }
    if (*id)
        section = lbx_settings_at(mailboxes->settings, id);
    if (lbx_settings_kind_of(section) == LBX_SETTINGS_KIND_SECTION)
        return lbx__mailbox_plans_of_section(mailboxes, section, fault, ret);
    if (!lbx__mailbox_types_find(mailboxes->types, id, &type))
        return lbx__blame(fault, LBX_NOT_FOUND, at,
                          "mailbox '%s' is not configured: the settings have "
                          "no such section, and no type has that name",
                          id);
    return find(mailboxes, id, NULL, fault, ret);
}
