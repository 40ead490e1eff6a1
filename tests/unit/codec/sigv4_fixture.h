/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are signed: what the tests of signatures share. */
#ifndef LBX_TEST_CODEC_SIGV4_FIXTURE_H
#define LBX_TEST_CODEC_SIGV4_FIXTURE_H

#include "codec/sigv4.h"

#define DATE        "20150830T123600Z"
#define DATE_S      1440938160
#define SCOPE       "20150830/us-east-1/sqs/aws4_request"
#define HOST        "example.amazonaws.com"
#define KEY         "AKIDEXAMPLE"
#define SECRET      "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define MINUTES(n)  ((n)*60)
#define MOST_FIELDS 8

struct sigv4_vector {
    const char *what;
    const char *method, *path, *query;
    const char *names; /* of the fields that are signed */
    const char *body;
    const char *signature;
    const char *fields[MOST_FIELDS][2]; /* besides host and x-amz-date */
};

enum {
    SIGV4_JSON = 4, /* the request that tests change */
    SIGV4_TOKEN = 7
};

/* Signed by botocore (SigV4Auth) with SECRET. */
extern const struct sigv4_vector sigv4_vectors[];
extern const size_t sigv4_vector_count;

/* The query string of a presigned URL, by botocore (SigV4QueryAuth). */
#define PRESIGNED_SIGNATURE                                                    \
    "bb389b4dd6aee6da9ce692e1b1a41e16ce584f095c503c5f919360496a253b96"
#define PRESIGNED                                                              \
    "Action=ReceiveMessage&MaxNumberOfMessages=10"                             \
    "&X-Amz-Algorithm=AWS4-HMAC-SHA256"                                        \
    "&X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Fus-east-1%2Fsqs%2F"            \
    "aws4_request&X-Amz-Date=20150830T123600Z&X-Amz-Expires=3600"              \
    "&X-Amz-SignedHeaders=host&X-Amz-Signature="

/* A request, and what Authorization is made of; tests change what they like. */
struct sigv4_signed {
    lbx__sigv4_request request;
    lbx__sigv4_field fields[MOST_FIELDS + 4];
    char authorization[512];
    lbx__sigv4_claim claim;
    const char *why;
};

/* Without Authorization. */
void sigv4_prepare(struct sigv4_signed *one, const struct sigv4_vector *vector);
void sigv4_add_field(struct sigv4_signed *one, const char *name,
                     const char *value);
void sigv4_authorize(struct sigv4_signed *one, const char *scope,
                     const char *names, const char *signature);

/* Reads the claim and checks it. */
lbx__sigv4_result sigv4_check_at(struct sigv4_signed *one, const char *secret,
                                 int64_t now_s);
lbx__sigv4_result sigv4_check_now(struct sigv4_signed *one);

#endif
