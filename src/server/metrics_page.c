/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /metrics: what was counted, and the depth and age of queues.
 *
 * The spaces of the store are listed, then the boxes of each, then each box is
 * described. So the numbers of different queues are not of one moment.
 *
 * MPAGE-1  The home account sees the queues of all accounts and regions, and so
 *          does every caller while the gate is open. Any other account sees its
 *          own.
 * MPAGE-2  At most METRICS_QUEUES are shown: those of home first, then by
 *          account, region and name. letterbox_queues_cut is 1 if some are not
 *          shown: there are more, or the store or the memory has failed.
 */
#include "server/server.h"

#include <stdio.h>
#include <string.h>

enum {
    METRICS_QUEUES = 10000
};

/* A space whose boxes are to be listed. */
struct survey_space {
    struct survey_space *next;
    lbx__world world;
};

/* One page that is being made, in the arena of its request. */
struct survey {
    lbx__request *request;
    lbx_list_request list;
    lbx_box_request describe;
    char space[LBX_BOX_SPACE_BYTES];     /* of the call */
    char prefix[LBX__ACCOUNT_BYTES + 1]; /* of spaces: "111111111111/" */

    struct survey_space *spaces, **spaces_end; /* the first is being listed */
    lbx__metrics_queue *queues, **queues_end;
    lbx__metrics_queue **at; /* the link to the one that is described */
    size_t queue_count;
    bool is_cut;
};

/* ---- The counts of each queue ---- */

static void survey_describe(lbx__request *request);

static void
survey_described(lbx__request *request, lbx_status status)
{
    struct survey *survey = request->state;
    lbx__metrics_queue *queue = *survey->at;

    if (status == LBX_OK)
        survey->at = &queue->next;
    else if (status == LBX_NOT_FOUND)
        *survey->at = queue->next; // it was deleted meanwhile
    else {
        *survey->at = NULL;
        survey->is_cut = true;
    }
    survey_describe(request);
}

static void
survey_describe(lbx__request *request)
{
    struct survey *survey = request->state;
    lbx__metrics_queue *queue = *survey->at;

    if (!queue) {
        lbx__metrics_write_queues(survey->queues, survey->is_cut,
                                  &request->body);
        lbx__request_page(request, "text/plain; version=0.0.4");
        return;
    }
    survey->describe = (lbx_box_request){
        .space = lbx__queues_space(request->sqs->queues, &queue->world,
                                   survey->space),
        .name = queue->name,
        .ret_counts = &queue->counts,
    };
    lbx__request_call(request, LBX_CALL_DESCRIBE, &survey->describe,
                      survey_described);
}

/* ---- The queues of each space ---- */

static bool
survey_add_queue(void *context, const char *name)
{
    struct survey *survey = context;
    lbx__arena *arena = &survey->request->arena;
    lbx__metrics_queue *queue = NULL;

    if (survey->queue_count < METRICS_QUEUES)
        queue = lbx__arena_take(arena, sizeof(*queue));
    if (queue)
        queue->name = lbx__arena_copy(arena, name, strlen(name));
    if (!queue || !queue->name) {
        survey->is_cut = true;
        return false;
    }
    queue->world = survey->spaces->world;
    queue->counts = (lbx_box_counts)LBX_BOX_COUNTS_INIT;
    *survey->queues_end = queue;
    survey->queues_end = &queue->next;
    survey->queue_count++;
    return true;
}

static void survey_listed(lbx__request *request, lbx_status status);

static void
survey_list_queues(lbx__request *request)
{
    struct survey *survey = request->state;

    if (!survey->spaces || survey->is_cut) {
        survey->at = &survey->queues;
        survey_describe(request);
        return;
    }
    survey->list = (lbx_list_request){
        .space = lbx__queues_space(request->sqs->queues, &survey->spaces->world,
                                   survey->space),
        .each = survey_add_queue,
        .context = survey,
    };
    lbx__request_call(request, LBX_CALL_LIST, &survey->list, survey_listed);
}

static void
survey_listed(lbx__request *request, lbx_status status)
{
    struct survey *survey = request->state;

    if (status != LBX_OK)
        survey->is_cut = true;
    survey->spaces = survey->spaces->next;
    survey_list_queues(request);
}

/* ---- The spaces ---- */

static bool
survey_add_world(struct survey *survey, const lbx__world *world)
{
    struct survey_space *space =
        lbx__arena_take(&survey->request->arena, sizeof(*space));

    if (!space) {
        survey->is_cut = true;
        return false;
    }
    space->world = *world;
    *survey->spaces_end = space;
    survey->spaces_end = &space->next;
    return true;
}

/* "ACCOUNT/REGION"; any other space is not one of a server. */
static bool
survey_add_space(void *context, const char *text)
{
    const size_t account_size = LBX__ACCOUNT_BYTES - 1;
    const size_t size = strlen(text);
    lbx__world world = {.account = ""};

    if (size <= account_size + 1 || text[account_size] != '/' ||
        size - account_size - 1 >= sizeof(world.region))
        return true;
    memcpy(world.account, text, account_size);
    memcpy(world.region, text + account_size + 1, size - account_size - 1);
    // Programs name spaces as they like; what is written as a label is checked.
    if (!lbx__gate_is_account(lbx__slice_of(world.account)) ||
        !lbx__gate_is_region(lbx__slice_of(world.region)))
        return true;
    return survey_add_world(context, &world);
}

static void
survey_spaces_listed(lbx__request *request, lbx_status status)
{
    struct survey *survey = request->state;

    if (status != LBX_OK)
        survey->is_cut = true; // the counts of requests are there all the same
    survey_list_queues(request);
}

static void
survey_start(lbx__request *request, struct survey *survey)
{
    const lbx__sqs *sqs = request->sqs;
    const bool sees_all =
        sqs->is_open(sqs) ||
        strcmp(request->world.account, sqs->home.account) == 0; // MPAGE-1

    survey->request = request;
    survey->spaces_end = &survey->spaces;
    survey->queues_end = &survey->queues;
    request->state = survey;
    if (sees_all)
        (void)survey_add_world(survey, &sqs->home);
    else
        (void)snprintf(survey->prefix, sizeof(survey->prefix), "%s/",
                       request->world.account);
    survey->list = (lbx_list_request){
        .dead_letters = {LBX_LIST_SPACES},
        .prefix = survey->prefix,
        .each = survey_add_space,
        .context = survey,
    };
    lbx__request_call(request, LBX_CALL_LIST, &survey->list,
                      survey_spaces_listed);
}

void
lbx__metrics_page_start(lbx__request *request)
{
    lbx_server *server = request->sqs->context;
    const lbx__metrics **all = lbx__arena_take(
        &request->arena, server->worker_count * sizeof(const lbx__metrics *));
    struct survey *survey = lbx__arena_take(&request->arena, sizeof(*survey));
    lbx__http_counts http;

    if (!all || !survey) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    for (size_t i = 0; i < server->worker_count; i++)
        all[i] = &server->workers[i].metrics;
    lbx__http_count(server->http, &http);
    lbx__metrics_write(all, server->worker_count, &http, &request->body);
    survey_start(request, survey);
}
