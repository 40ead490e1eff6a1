/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The errors of SQS: one row for each, with what the two wire formats call it.
 *
 *   name      ours, and the JSON shape
 *   space     of the JSON shape: sqs (com.amazonaws.sqs) or coral
 *             (com.amazon.coral.service)
 *   code      in the header x-amzn-query-error, and <Code> of XML
 *   status    of HTTP
 */
#ifndef LBX_SERVER_SQS_ERROR_H
#define LBX_SERVER_SQS_ERROR_H

#include <stdbool.h>

#define LBX__SQS_AWS "AWS.SimpleQueueService."

/* clang-format off */
#define LBX__SQS_ERRORS(XX)                                                    \
    XX(QueueDoesNotExist, sqs, LBX__SQS_AWS "NonExistentQueue", 400)           \
    XX(QueueNameExists, sqs, "QueueAlreadyExists", 400)                        \
    XX(QueueDeletedRecently, sqs, LBX__SQS_AWS "QueueDeletedRecently", 400)    \
    XX(PurgeQueueInProgress, sqs, LBX__SQS_AWS "PurgeQueueInProgress", 403)    \
    XX(ReceiptHandleIsInvalid, sqs, "ReceiptHandleIsInvalid", 404)             \
    XX(MessageNotInflight, sqs, LBX__SQS_AWS "MessageNotInflight", 400)        \
    XX(InvalidIdFormat, sqs, "InvalidIdFormat", 400)                           \
    XX(InvalidMessageContents, sqs, "InvalidMessageContents", 400)             \
    XX(InvalidAttributeName, sqs, "InvalidAttributeName", 400)                 \
    XX(InvalidAttributeValue, sqs, "InvalidAttributeValue", 400)               \
    XX(EmptyBatchRequest, sqs, LBX__SQS_AWS "EmptyBatchRequest", 400)          \
    XX(TooManyEntriesInBatchRequest, sqs,                                      \
       LBX__SQS_AWS "TooManyEntriesInBatchRequest", 400)                       \
    XX(BatchEntryIdsNotDistinct, sqs,                                          \
       LBX__SQS_AWS "BatchEntryIdsNotDistinct", 400)                           \
    XX(BatchRequestTooLong, sqs, LBX__SQS_AWS "BatchRequestTooLong", 400)      \
    XX(InvalidBatchEntryId, sqs, LBX__SQS_AWS "InvalidBatchEntryId", 400)      \
    XX(UnsupportedOperation, sqs, LBX__SQS_AWS "UnsupportedOperation", 400)    \
    XX(OverLimit, sqs, "OverLimit", 403)                                       \
    XX(RequestThrottled, sqs, "RequestThrottled", 403)                         \
    XX(InvalidSecurity, sqs, "InvalidSecurity", 403)                           \
    XX(InvalidAddress, sqs, "InvalidAddress", 404)                             \
    XX(ResourceNotFoundException, sqs, "ResourceNotFoundException", 404)       \
    XX(InvalidParameterValueException, coral, "InvalidParameterValue", 400)    \
    XX(MissingRequiredParameterException, coral, "MissingParameter", 400)      \
    XX(InvalidRequest, coral, "InvalidRequest", 400)                           \
    XX(UnknownOperationException, coral, "InvalidAction", 400)                 \
    XX(SerializationException, coral, "MalformedInput", 400)                   \
    XX(AccessDeniedException, coral, "AccessDenied", 403)                      \
    XX(MissingAuthenticationTokenException, coral,                             \
       "MissingAuthenticationToken", 403)                                      \
    XX(UnrecognizedClientException, coral, "InvalidClientTokenId", 403)        \
    XX(InvalidSignatureException, coral, "SignatureDoesNotMatch", 403)         \
    XX(IncompleteSignatureException, coral, "IncompleteSignature", 400)        \
    XX(RequestExpired, coral, "RequestExpired", 400)                           \
    XX(ServiceUnavailable, coral, "ServiceUnavailable", 503)                   \
    XX(InternalFailure, coral, "InternalFailure", 500)
/* clang-format on */

typedef enum lbx__sqs_error {
    LBX__SQS_OK = 0,
#define XX(name, space, code, status) LBX__SQS_##name,
    LBX__SQS_ERRORS(XX)
#undef XX
} lbx__sqs_error;

typedef struct lbx__sqs_error_row {
    const char *type; /* "com.amazonaws.sqs#QueueDoesNotExist" */
    const char *code;
    int status;
    bool is_sender; /* the caller's mistake; otherwise ours */
} lbx__sqs_error_row;

const lbx__sqs_error_row *lbx__sqs_error_row_of(lbx__sqs_error error);

#endif
