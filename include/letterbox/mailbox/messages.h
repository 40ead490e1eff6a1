/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Envelopes: a message with what travels beside it.
 *
 * A message is any pointer-sized value, NULL included; the library never reads
 * it. An envelope adds priority, channel, sender, deadline, and, for the system
 * lane, a system message. Envelopes are small values: made on the stack, copied
 * into the mailbox, copied out again.
 *
 *     lbx_envelope urgent = lbx_envelope_control(order, 2);
 *     lbx_producer_try_send_envelope(producer, &urgent, NULL);
 *
 * Which lane an envelope takes: with a system message, the system lane; else by
 * its channel, control or user. Lanes are drained in the order system, control,
 * user. A mailbox that is not control-aware has no control lane: there, control
 * messages go to the user lane in order of arrival.
 *
 * Priorities are signed 32-bit, *lower is more urgent*. A mailbox created with
 * `higher_first` reverses the order; the envelope
 * keeps the number as it was given. The system lane is FIFO; its priorities
 * are for the receiver.
 *
 * Start an envelope from one of the functions below: a zeroed one has priority
 * 0, which is more urgent than LBX_PRIORITY_DEFAULT.
 */
#ifndef LETTERBOX_MAILBOX_MESSAGES_H
#define LETTERBOX_MAILBOX_MESSAGES_H

#include <letterbox/base.h>
#include <letterbox/type.h>

LBX_BEGIN

typedef enum lbx_channel {
    LBX_CHANNEL_REGULAR = 0,
    LBX_CHANNEL_CONTROL = 1,
} lbx_channel;

/* The priority of a system message for which the table below has none. */
#define LBX_SYSTEM_PRIORITY_DEFAULT 4

/* System messages: name, code, and the priority they have unless stated
 * otherwise (higher is more urgent). Codes from LBX_SYSTEM_CODE_USER on are
 * yours; they start at the default. */
#define LBX_SYSTEM_CODE_MAP(XX)                                                \
    XX(WATCH, 1, LBX_SYSTEM_PRIORITY_DEFAULT + 5)                              \
    XX(UNWATCH, 2, LBX_SYSTEM_PRIORITY_DEFAULT + 5)                            \
    XX(RECEIVE_TIMEOUT, 3, LBX_SYSTEM_PRIORITY_DEFAULT + 8)                    \
    XX(SUSPEND, 4, LBX_SYSTEM_PRIORITY_DEFAULT + 9)                            \
    XX(RESUME, 5, LBX_SYSTEM_PRIORITY_DEFAULT + 9)                             \
    XX(STOP, 6, LBX_SYSTEM_PRIORITY_DEFAULT + 10)                              \
    XX(RESTART, 7, LBX_SYSTEM_PRIORITY_DEFAULT + 11)                           \
    XX(FAILURE, 8, LBX_SYSTEM_PRIORITY_DEFAULT + 12)                           \
    XX(ESCALATE, 9, LBX_SYSTEM_PRIORITY_DEFAULT + 13)

typedef enum lbx_system_code {
    LBX_SYSTEM_CODE_NONE = 0,
#define LBX_SYSTEM_CODE_ENUM(name, code, priority)                             \
    LBX_SYSTEM_CODE_##name = (code),
    LBX_SYSTEM_CODE_MAP(LBX_SYSTEM_CODE_ENUM)
#undef LBX_SYSTEM_CODE_ENUM
    LBX_SYSTEM_CODE_USER = 1000,
} lbx_system_code;

/* A system message: what it is and how urgent. Its payload is the envelope's
 * message. */
typedef struct lbx_system_message {
    int32_t code; /* lbx_system_code, or LBX_SYSTEM_CODE_USER and up */
    int32_t priority;
} lbx_system_message;

/* Why a message was lost. 0 in an envelope: it was not. */
typedef enum lbx_loss_reason {
    LBX_LOSS_NONE = 0,
    LBX_LOSS_DROPPED_NEWEST, /* refused by DROP_NEWEST, or after its wait */
    LBX_LOSS_DROPPED_OLDEST, /* pushed out by a newer one */
    LBX_LOSS_EXPIRED,        /* its deadline had passed when it was taken */
    LBX_LOSS_CLOSED,         /* still inside when the mailbox was closed */
    LBX_LOSS_NO_ACTOR,       /* its actor has ended */
    LBX_LOSS_UNHANDLED,      /* its actor has no handler for it */
    LBX_LOSS_FAILED,    /* its handler failed, and the supervisor decided so */
    LBX_LOSS_NO_MEMORY, /* there was no memory to send it */
    LBX_LOSS_REFUSED,   /* its actor's mailbox refused it */
} lbx_loss_reason;

typedef struct lbx_envelope {
    void *message;
    const lbx_type *type; /* NULL: unknown */
    void *sender;         /* yours: the mailbox only carries it */
    void *recipient;      /* the mailbox's owner; filled in by the mailbox */
    int64_t deadline_ns;  /* when it is too late to deliver; 0 and LBX_FOREVER:
                             never */
    int64_t enqueued_ns;  /* filled in by mailboxes with timestamps, else 0 */
    int32_t priority;
    uint8_t channel;     /* lbx_channel */
    uint8_t lost;        /* lbx_loss_reason, in envelopes of dead letters */
    uint8_t reserved[2]; /* 0 */
    /* code LBX_SYSTEM_CODE_NONE: an ordinary message */
    lbx_system_message system;
} lbx_envelope;

/*
 * lbx_envelope_of() is a regular envelope with the given priority.
 *
 * Threads    any, as all of these: they only make values.
 * Since      0.1
 */
LBX_API lbx_envelope lbx_envelope_of(void *message, int32_t priority);

/*
 * lbx_envelope_with_channel() is an envelope for the given channel.
 *
 * Since      0.1
 */
LBX_API lbx_envelope lbx_envelope_with_channel(void *message, int32_t priority,
                                               lbx_channel channel);

/*
 * lbx_envelope_control() is an envelope for the control channel.
 *
 * Since      0.1
 */
LBX_API lbx_envelope lbx_envelope_control(void *message, int32_t priority);

/*
 * lbx_envelope_with_default_priority() is a regular envelope whose priority is
 * LBX_PRIORITY_DEFAULT.
 *
 * Since      0.1
 */
LBX_API lbx_envelope lbx_envelope_with_default_priority(void *message);

/*
 * lbx_envelope_of_type() is a regular envelope with a type and that type's
 * default priority.
 *
 * Since      0.1
 */
LBX_API lbx_envelope lbx_envelope_of_type(void *message, const lbx_type *type);

/*
 * lbx_system_message_of() is a system message with the priority of the table
 * above; LBX_SYSTEM_PRIORITY_DEFAULT for codes that are not in it.
 *
 * Since      0.1
 */
LBX_API lbx_system_message lbx_system_message_of(int32_t code);

/*
 * lbx_envelope_from_system() copies `system` into an envelope for the system
 * lane: channel LBX_CHANNEL_CONTROL, the system message's own priority, and
 * `message` as its payload (often NULL).
 *
 * Since      0.1
 */
LBX_API lbx_envelope lbx_envelope_from_system(lbx_system_message system,
                                              void *message);

/*
 * lbx_envelope_map() replaces the message by what `map` makes of it and keeps
 * everything else.
 *
 * Since      0.1
 */
LBX_API lbx_envelope lbx_envelope_map(lbx_envelope envelope,
                                      void *(*map)(void *message,
                                                   void *context),
                                      void *context);

/*
 * lbx_envelope_map_priority() replaces the priority by what `map` makes of it.
 *
 * Since      0.1
 */
LBX_API lbx_envelope lbx_envelope_map_priority(lbx_envelope envelope,
                                               int32_t (*map)(int32_t priority,
                                                              void *context),
                                               void *context);

/*
 * lbx_envelope_into_parts() takes an envelope apart. Every output may be NULL.
 *
 * Ownership  the message stays whose it was: an envelope owns nothing.
 * Since      0.1
 */
LBX_API void lbx_envelope_into_parts(const lbx_envelope *envelope,
                                     void **ret_message, int32_t *ret_priority,
                                     lbx_channel *ret_channel,
                                     lbx_system_message *ret_system);

/*
 * lbx_envelope_is_control() returns whether the channel is LBX_CHANNEL_CONTROL.
 *
 * Since      0.1
 */
LBX_API bool lbx_envelope_is_control(const lbx_envelope *envelope);

/*
 * lbx_envelope_is_system() returns whether there is a system message inside.
 *
 * Since      0.1
 */
LBX_API bool lbx_envelope_is_system(const lbx_envelope *envelope);

LBX_END

#endif
