/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger's pages, one per thread and one for setup() and finish(). */
#include "explorer/scenarios/ledger.h"

#include "explorer.h"

#include <string.h>

enum {
    PAGES = EXPLORER_THREADS + 1,
    LINES = 15
};

static struct page {
    unsigned made; /* messages */
    bool sent[LINES + 1];
    uint64_t received[LINES];
    unsigned received_count;
    uint64_t lost[LINES];
    unsigned lost_count;
} pages[PAGES];

static struct page *
my_page(void)
{
    return &pages[explorer_thread() + 1];
}

void
ledger_reset(void)
{
    memset(pages, 0, sizeof(pages));
}

uint64_t
ledger_message(void)
{
    struct page *page = my_page();

    EXPECT(page->made < LINES);
    return (uint64_t)(page - pages + 1) << 4 | ++page->made;
}

void
ledger_sent(uint64_t message)
{
    my_page()->sent[message & 15] = true;
}

void
ledger_received(uint64_t message)
{
    struct page *page = my_page();

    EXPECT(page->received_count < LINES);
    page->received[page->received_count++] = message;
}

void
ledger_lost(uint64_t message)
{
    struct page *page = my_page();

    EXPECT(page->lost_count < LINES);
    page->lost[page->lost_count++] = message;
}

unsigned
ledger_count(void)
{
    return my_page()->received_count;
}

unsigned
ledger_sent_total(void)
{
    unsigned total = 0;

    for (unsigned i = 0; i < PAGES; i++) {
        for (unsigned j = 0; j <= LINES; j++)
            total += pages[i].sent[j];
    }
    return total;
}

unsigned
ledger_received_total(void)
{
    unsigned total = 0;

    for (unsigned i = 0; i < PAGES; i++)
        total += pages[i].received_count;
    return total;
}

unsigned
ledger_lost_total(void)
{
    unsigned total = 0;

    for (unsigned i = 0; i < PAGES; i++)
        total += pages[i].lost_count;
    return total;
}

// Strikes one sent message out.
static void
strike(uint64_t message)
{
    uint64_t page = (message >> 4) - 1;

    if (page >= PAGES || !pages[page].sent[message & 15])
        explorer_fail(__FILE__, __LINE__,
                      "message %#llx was delivered twice or never sent",
                      (unsigned long long)message);
    pages[page].sent[message & 15] = false;
}

static void
check_order(const struct page *reader)
{
    uint64_t last[PAGES] = {0};

    for (unsigned i = 0; i < reader->received_count; i++) {
        uint64_t message = reader->received[i];
        uint64_t writer = (message >> 4) - 1;

        if (writer < PAGES && message <= last[writer])
            explorer_fail(
                __FILE__, __LINE__, "message %#llx was overtaken by %#llx",
                (unsigned long long)message, (unsigned long long)last[writer]);
        if (writer < PAGES)
            last[writer] = message;
    }
}

// What the drain found must not be older than what a thread had received.
static void
check_drain_is_last(void)
{
    for (unsigned i = 0; i < pages[0].received_count; i++) {
        uint64_t left = pages[0].received[i];

        for (unsigned p = 1; p < PAGES; p++) {
            for (unsigned j = 0; j < pages[p].received_count; j++) {
                uint64_t taken = pages[p].received[j];

                if (taken >> 4 == left >> 4 && taken > left)
                    explorer_fail(__FILE__, __LINE__,
                                  "message %#llx was left behind by %#llx",
                                  (unsigned long long)left,
                                  (unsigned long long)taken);
            }
        }
    }
}

void
ledger_check(bool in_order)
{
    if (in_order) {
        check_drain_is_last();
        for (unsigned i = 0; i < PAGES; i++)
            check_order(&pages[i]);
    }
    for (unsigned i = 0; i < PAGES; i++) {
        for (unsigned j = 0; j < pages[i].received_count; j++)
            strike(pages[i].received[j]);
        for (unsigned j = 0; j < pages[i].lost_count; j++)
            strike(pages[i].lost[j]);
    }
    EXPECT(ledger_sent_total() == 0 && "every sent message arrived");
}
