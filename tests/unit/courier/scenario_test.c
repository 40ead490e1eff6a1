/* SPDX-License-Identifier: Apache-2.0 */
/* WINK's scenarios, with a courier as the worker. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lbx_status
encode_text(const void *message, lbx_buffer *out, void *context)
{
    (void)context;
    return lbx_buffer_append_text(out, message);
}

static lbx_type *
make_type(const char *name, const lbx_type *base)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_type *type;

    options.name = name;
    options.bases = &base;
    options.base_count = base ? 1 : 0;
    options.encode = encode_text;
    CHECK_OK(lbx_type_create(&options, &type));
    return type;
}

struct types {
    lbx_type *outcome;
    lbx_type *passed;
    lbx_type *failed;
    lbx_type *other;
};

static void
make_types(struct types *types)
{
    types->outcome = make_type("t.Outcome", NULL);
    types->passed = make_type("t.Passed", types->outcome);
    types->failed = make_type("t.Failed", types->outcome);
    types->other = make_type("t.Other", NULL);
}

static void
end_types(struct types *types)
{
    lbx_type_destroy(types->other);
    lbx_type_destroy(types->failed);
    lbx_type_destroy(types->passed);
    lbx_type_destroy(types->outcome);
}

/* Multiples of three pass, of five have another type. */
static lbx_status
evaluate(lbx_job *job, void *context)
{
    const struct types *types = context;
    const char *sample = lbx_letter_body(lbx_job_letter(job), NULL);
    const int number = atoi(sample);
    const lbx_type *type = number % 5 == 0   ? types->other
                           : number % 3 == 0 ? types->passed
                                             : types->failed;
    lbx_draft verdict = lbx_draft_of_message(type, sample);

    return lbx_job_reply_and_acknowledge(job, &verdict);
}

/* Samples 1 to `count`, with these routes. */
static void
evaluate_all(struct fixture *fx, struct types *types,
             const lbx_routes_entry *table, size_t routes, int count)
{
    fixture_open(fx);
    lbx_routes_unref(fx->routes);
    CHECK_OK(lbx_routes_create(table, routes, NULL, NULL, &fx->routes));
    make_types(types);
    fx->options.handle = evaluate;
    fx->options.context = types;
    fx->options.max_letters = 4;
    for (int i = 1; i <= count; i++) {
        char text[16];

        snprintf(text, sizeof(text), "%d", i);
        fixture_send(fx, text);
    }
    fixture_run(fx, count);
    CHECK_COUNTS(fx, "requests", 0, 0, 0);
}

TEST_CITING("W-21", answers_of_derived_types_take_the_route_of_their_base)
{
    static const lbx_routes_entry table[] = {{"t.Outcome", "answers"}};
    struct types types;
    struct fixture fx;
    lbx_letter *letter;

    evaluate_all(&fx, &types, table, 1, 4);
    CHECK_COUNTS(&fx, "answers", 4, 0, 0); // both types, one address
    letter = fixture_take(fx.answers);
    CHECK_STR("1", lbx_letter_body(letter, NULL));
    CHECK_STR("t.Failed", lbx_letter_type_name(letter));
    lbx_letter_destroy(letter);
    fixture_close(&fx);
    end_types(&types);
}

TEST_CITING("W-20 W-21", an_answer_without_a_route_is_a_warning)
{
    static const lbx_routes_entry table[] = {{"t.Outcome", "answers"}};
    struct types types;
    struct fixture fx;

    evaluate_all(&fx, &types, table, 1, 5);
    CHECK_COUNTS(&fx, "answers", 4, 0, 0);
    CHECK_INT(5, fixture_stats(&fx)->acknowledged);
    CHECK(
        fixture_has_logged(&fx, "requests-5: acknowledged without an answer"));
    fixture_close(&fx);
    end_types(&types);
}

TEST_CITING("W-19 W-22", an_evaluation_run_has_a_place_for_each_outcome)
{
    static const lbx_routes_entry table[] = {
        {"t.Passed", "answers"}, {"t.Failed", "dead"}, {"t.Other", "dead"}};
    size_t passed, failed, leased, delayed;
    struct types types;
    struct fixture fx;

    evaluate_all(&fx, &types, table, 3, 30);
    fake_store_count(&fx.store, "answers", &passed, &leased, &delayed);
    fake_store_count(&fx.store, "dead", &failed, &leased, &delayed);
    CHECK_INT(8, passed); // 10 multiples of three, two of them of fifteen
    CHECK_INT(22, failed);
    fixture_close(&fx);
    end_types(&types);
}
