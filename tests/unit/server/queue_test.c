/* SPDX-License-Identifier: Apache-2.0 */
/* Queues in memory, and what the directory knows without a store. */
#include "server/sqs/queue.h"
#include "server/sqs/queue_copy.h"
#include "support/test.h"

#include <stdio.h>

static const lbx__world home = {"000000000000", "us-east-1"};
static const lbx__world away = {"000000000000", "eu-west-1"};

/* QUEUE-1: what a queue was made of may be gone. */
TEST(a_copy_of_a_queue_has_its_texts_itself)
{
    char name[] = "orders", text[] = "tag:team", value[] = "red";
    char dead[] = "dlq", box[] = "friend";
    const char *const boxes[] = {box, box};
    const lbx_box_text texts[] = {{text, value}, {"empty", ""}};
    lbx__queue model = {.world = away,
                        .space = "000000000000/eu-west-1",
                        .name = name,
                        .box = {7},
                        .options = LBX_BOX_OPTIONS_INIT,
                        .texts = texts,
                        .text_count = 2,
                        .read_ns = 9};
    lbx__queue *queue;

    model.options.dead_letters = dead;
    model.options.dead_letter_boxes = boxes;
    model.options.dead_letter_box_count = 2;
    queue = lbx__queue_copy(NULL, &model);
    CHECK(queue);
    name[0] = text[0] = value[0] = dead[0] = box[0] = '!';
    CHECK_STR("orders", queue->name);
    CHECK_STR("000000000000/eu-west-1", queue->space);
    CHECK_STR("dlq", queue->options.dead_letters);
    CHECK_STR("friend", queue->options.dead_letter_boxes[0]);
    CHECK_STR("friend", queue->options.dead_letter_boxes[1]);
    CHECK_STR("red", lbx__queue_text(queue, "tag:team"));
    CHECK_STR("", lbx__queue_text(queue, "empty"));
    CHECK(!lbx__queue_text(queue, "other"));
    CHECK_INT(7, queue->box.uid);
    CHECK_INT(9, queue->read_ns);
    CHECK_PTR(queue, lbx__queue_ref(queue));
    lbx__queue_unref(queue);
    CHECK_STR("orders", queue->name);
    lbx__queue_unref(queue);
    lbx__queue_unref(NULL);
}

TEST(a_queue_of_the_space_of_programs_has_none)
{
    const lbx__queue model = {
        .name = "x", .world = home, .options = LBX_BOX_OPTIONS_INIT};
    lbx__queue *queue = lbx__queue_copy(NULL, &model);

    CHECK(queue && !queue->space && !queue->options.dead_letters &&
          !queue->options.dead_letter_boxes);
    CHECK_INT(0, queue->text_count);
    lbx__queue_unref(queue);
}

TEST(the_home_world_is_the_space_of_programs)
{
    const lbx__world longest = {"999999999999", "ap-southeast-longs"};
    char buffer[LBX_BOX_SPACE_BYTES];
    lbx__queues *queues;

    CHECK_OK(lbx__queues_create(NULL, &home, &queues));
    CHECK(!lbx__queues_space(queues, &home, buffer));
    CHECK_STR("000000000000/eu-west-1",
              lbx__queues_space(queues, &away, buffer));
    CHECK_STR("999999999999/ap-southeast-longs",
              lbx__queues_space(queues, &longest, buffer));
    lbx__queues_destroy(queues);
    lbx__queues_destroy(NULL);
}

TEST(a_deletion_is_remembered_in_its_world_only)
{
    lbx__queues *queues;

    CHECK_OK(lbx__queues_create(NULL, &home, &queues));
    CHECK(!lbx__queues_deleted_recently(queues, &home, "a"));
    lbx__queues_note_deleted(queues, &home, "a");
    lbx__queues_forget(queues, &home, "a");
    CHECK(lbx__queues_deleted_recently(queues, &home, "a"));
    CHECK(!lbx__queues_deleted_recently(queues, &away, "a"));
    CHECK(!lbx__queues_deleted_recently(queues, &home, "b"));
    lbx__queues_note_deleted(queues, &away, "b");
    CHECK(lbx__queues_deleted_recently(queues, &away, "b"));
    CHECK(!lbx__queues_deleted_recently(queues, &home, "b"));
    lbx__queues_destroy(queues);
}

/* Names that clients choose must not fill the memory. */
TEST(only_the_latest_deletions_are_remembered)
{
    lbx__queues *queues;
    char name[32];

    CHECK_OK(lbx__queues_create(NULL, &home, &queues));
    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof(name), "q%d", i);
        lbx__queues_note_deleted(queues, &home, name);
    }
    CHECK(!lbx__queues_deleted_recently(queues, &home, "q0"));
    CHECK(!lbx__queues_deleted_recently(queues, &home, "q87"));
    CHECK(lbx__queues_deleted_recently(queues, &home, "q88"));
    CHECK(lbx__queues_deleted_recently(queues, &home, "q599"));
    lbx__queues_destroy(queues);
}
