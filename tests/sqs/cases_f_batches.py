# SPDX-License-Identifier: Apache-2.0
"""F. Batches."""

from harness import INVALID, md5, md5_of, text

MOST = 1048576
ACTIONS = {
    "SendMessageBatch": {"MessageBody": "x"},
    "DeleteMessageBatch": {"ReceiptHandle": "x"},
    "ChangeMessageVisibilityBatch": {"ReceiptHandle": "x", "VisibilityTimeout": 1},
}
BAD_ID = "A batch entry id can only contain alphanumeric characters, hyphens and " \
    "underscores. It can be at most 80 letters long."
TOO_LONG = "Batch requests cannot be longer than 1048576 bytes. You have sent %d bytes."


def ids(entries):
    return sorted(entry["Id"] for entry in entries)


def batch(sqs, url, bodies, **more):
    return sqs.ok("SendMessageBatch", QueueUrl=url, Entries=[
        dict({"Id": "id_%d" % i, "MessageBody": body}, **more)
        for i, body in enumerate(bodies)])


def f68_batches_that_are_none(sqs):
    url = sqs.queue()
    for action, entry in ACTIONS.items():
        def refused(shape, words, *names):
            sqs.fails(shape, words, action, QueueUrl=url,
                      Entries=[dict(entry, Id=name) for name in names])

        refused("EmptyBatchRequest", "There should be at least one %sRequestEntry in "
                "the request." % action)
        for count in (11, 20):
            refused("TooManyEntriesInBatchRequest", "Maximum number of entries per "
                    "request are 10. You have sent %d." % count,
                    *("id_%d" % i for i in range(count)))
        refused("BatchEntryIdsNotDistinct", "Id id_2 repeated.",
                "id_1", "id_2", "id_2", "id_3", "id_3")
        for name in ("", "x" * 81, "a:b", "a b"):
            refused("InvalidBatchEntryId", BAD_ID, name)
    sqs.expect((0, 0, 0), sqs.counts(url), "nothing was sent")
    sqs.ok("SendMessageBatch", QueueUrl=url,
           Entries=[{"Id": "x" * 80, "MessageBody": "x"}])


def f69_a_batch_has_at_most_one_mebibyte(sqs):
    url = sqs.queue()
    half = MOST // 2
    sqs.fails("BatchRequestTooLong", TOO_LONG % (MOST + 1), "SendMessageBatch",
              QueueUrl=url, Entries=[{"Id": "a", "MessageBody": "x" * half},
                                     {"Id": "b", "MessageBody": "x" * (half + 1)}])
    sqs.expect((0, 0, 0), sqs.counts(url), "nothing was sent")
    attributes = {"a": text("123")}  # 10 bytes
    sqs.fails("BatchRequestTooLong", TOO_LONG % (MOST + 10), "SendMessageBatch",
              QueueUrl=url, Entries=[
                  {"Id": "a", "MessageBody": "x" * half, "MessageAttributes": attributes},
                  {"Id": "b", "MessageBody": "x" * half}])
    good = batch(sqs, url, ["x" * half, "y" * half])
    sqs.expect(["id_0", "id_1"], ids(good.get("Successful", [])), "1 MiB")


def f70_one_bad_entry_of_ten(sqs):
    url = sqs.queue()
    result = batch(sqs, url, ["body %d" % i for i in range(9)] + ["\x01"])
    sqs.expect(["id_%d" % i for i in range(9)], ids(result.get("Successful", [])), "good")
    sqs.expect([("id_9", "InvalidMessageContents", True)],
               [(entry["Id"], entry["Code"], entry["SenderFault"])
                for entry in result.get("Failed", [])], "bad")
    sqs.true(result["Failed"][0].get("Message"), "no Message")
    sent = {"body " + entry["Id"][-1]: entry["MessageId"]
            for entry in result["Successful"]}
    sqs.expect(sent, {message["Body"]: message["MessageId"]
                      for message in sqs.await_messages(url, 9)}, "received")
    result = batch(sqs, url, ["\x01", "body 1", "body 2"])
    sqs.expect({"body " + entry["Id"][-1]: entry["MessageId"]
                for entry in result["Successful"]},
               {message["Body"]: message["MessageId"]
                for message in sqs.await_messages(url, 2)}, "behind a bad one")


def f71_one_entry_is_too_big(sqs):
    url = sqs.queue(MaximumMessageSize=1024)
    result = batch(sqs, url, ["x" * 1024, "x" * 1025])
    sqs.expect(["id_0"], ids(result.get("Successful", [])), "good")
    sqs.expect([{"Id": "id_1", "SenderFault": True, "Code": "InvalidParameterValue",
                 "Message": "One or more parameters cannot be validated. Reason: Message "
                            "must be shorter than 1024 bytes."}],
               result.get("Failed"), "bad")
    sqs.expect((1, 0, 0), sqs.counts(url), "sent")


def f72_empty_lists_are_left_out(sqs):
    url = sqs.queue()
    sqs.expect(["Successful"], list(batch(sqs, url, ["a", "b"])), "all good")
    sqs.expect(["Failed"], list(batch(sqs, url, ["\x01", "\x02"])), "all bad")
    result = sqs.ok("DeleteMessageBatch", QueueUrl=url,
                    Entries=[{"Id": "a", "ReceiptHandle": "garbage"}])
    sqs.expect(["Failed"], list(result), "all bad deletes")


def f73_fifo_batches_need_ids(sqs):
    url = sqs.fifo(ContentBasedDeduplication="false")
    good = {"Id": "a", "MessageBody": "x", "MessageGroupId": "g",
            "MessageDeduplicationId": "d"}
    for missing in ("MessageGroupId", "MessageDeduplicationId"):
        bad = dict(good, Id="b", MessageDeduplicationId="e")
        del bad[missing]
        sqs.fails(INVALID, None, "SendMessageBatch", QueueUrl=url, Entries=[good, bad])
    sqs.expect((0, 0, 0), sqs.counts(url), "nothing was sent")


def f74_deletes_good_and_bad(sqs):
    url = sqs.queue()
    batch(sqs, url, ["a", "b", "c"])
    messages = sqs.await_messages(url, 3)
    entries = [{"Id": "m%d" % i, "ReceiptHandle": message["ReceiptHandle"]}
               for i, message in enumerate(messages)]
    entries.insert(1, {"Id": "bad", "ReceiptHandle": "garbage"})
    result = sqs.ok("DeleteMessageBatch", QueueUrl=url, Entries=entries)
    sqs.expect(["m0", "m1", "m2"], ids(result.get("Successful", [])), "good")
    sqs.expect([{"Id": "bad", "SenderFault": True, "Code": "ReceiptHandleIsInvalid",
                 "Message": 'The input receipt handle "garbage" is not a valid receipt '
                            'handle.'}], result.get("Failed"), "bad")
    sqs.expect((0, 0, 0), sqs.counts(url), "deleted")


def f75_changes_good_and_bad(sqs):
    url = sqs.queue()
    batch(sqs, url, ["a", "b", "c"])
    messages = sqs.await_messages(url, 3)
    handles = [message["ReceiptHandle"] for message in messages]
    result = sqs.ok("ChangeMessageVisibilityBatch", QueueUrl=url, Entries=[
        {"Id": "a", "ReceiptHandle": handles[0], "VisibilityTimeout": 0},
        {"Id": "b", "ReceiptHandle": handles[1], "VisibilityTimeout": 43201},
        {"Id": "c", "ReceiptHandle": handles[2], "VisibilityTimeout": 0},
        {"Id": "d", "ReceiptHandle": "garbage", "VisibilityTimeout": 0}])
    sqs.expect(["a", "c"], ids(result.get("Successful", [])), "good")
    sqs.expect([("b", "InvalidParameterValue", True),
                ("d", "ReceiptHandleIsInvalid", True)],
               sorted((entry["Id"], entry["Code"], entry["SenderFault"])
                      for entry in result.get("Failed", [])), "bad")
    # In the words of ChangeMessageVisibility, see e65b.
    sqs.expect(["Value 43201 for parameter VisibilityTimeout is invalid. Reason: Must be "
                "between 0 and 43200."],
               [entry["Message"] for entry in result.get("Failed", [])
                if entry["Id"] == "b"], "text")
    sqs.expect((2, 1, 0), sqs.counts(url), "applied")


def f75b_results_belong_to_their_entries(sqs):
    """One that is not sent to the store comes before one that the store refuses."""
    url = sqs.queue()
    batch(sqs, url, ["a", "b"])
    gone, here = sqs.await_messages(url, 2)
    sqs.delete(url, gone)
    result = sqs.ok("ChangeMessageVisibilityBatch", QueueUrl=url, Entries=[
        {"Id": "bad", "ReceiptHandle": "garbage", "VisibilityTimeout": 0},
        {"Id": "gone", "ReceiptHandle": gone["ReceiptHandle"], "VisibilityTimeout": 0},
        {"Id": "here", "ReceiptHandle": here["ReceiptHandle"], "VisibilityTimeout": 0}])
    sqs.expect(["here"], ids(result.get("Successful", [])), "good")
    sqs.expect([("bad", "ReceiptHandleIsInvalid"), ("gone", "InvalidParameterValue")],
               [(entry["Id"], entry["Code"]) for entry in result.get("Failed", [])], "bad")


def f76_fifo_batches_keep_their_order(sqs):
    url = sqs.fifo()
    attributes = {"n": text("1", "Number")}
    result = batch(sqs, url, ["body %d" % i for i in range(10)], MessageGroupId="g",
                   MessageAttributes=attributes)
    sqs.expect(["id_%d" % i for i in range(10)],
               [entry["Id"] for entry in result["Successful"]], "entries")
    numbers = [int(entry["SequenceNumber"]) for entry in result["Successful"]]
    sqs.expect(sorted(set(numbers)), numbers, "sequence numbers increase")
    sqs.expect({(20, "1")}, {(len(entry["SequenceNumber"]), entry["SequenceNumber"][0])
                             for entry in result["Successful"]}, "of one length")
    for i, entry in enumerate(result["Successful"]):
        sqs.expect((md5("body %d" % i), md5_of(attributes)),
                   (entry["MD5OfMessageBody"], entry["MD5OfMessageAttributes"]), "MD5s")
    messages = sqs.receive(url, AttributeNames=["SequenceNumber"])
    sqs.expect(["body %d" % i for i in range(10)],
               [message["Body"] for message in messages], "order")
    sqs.expect(numbers, [int(sqs.system(message, "SequenceNumber"))
                         for message in messages], "sequence numbers")


def f76b_delays_and_attributes_of_entries(sqs):
    url = sqs.queue()
    result = sqs.ok("SendMessageBatch", QueueUrl=url, Entries=[
        {"Id": "a", "MessageBody": "late", "DelaySeconds": 900},
        {"Id": "b", "MessageBody": "now", "MessageAttributes": {"x": text("y")}},
        {"Id": "c", "MessageBody": "bad", "DelaySeconds": 901},
        {"Id": "d", "MessageBody": "traced", "MessageSystemAttributes": {
            "AWSTraceHeader": text("Root=1")}}])
    sqs.expect(["a", "b", "d"], ids(result["Successful"]), "good")
    sqs.expect([("c", "InvalidParameterValue")],
               [(entry["Id"], entry["Code"]) for entry in result.get("Failed", [])],
               "bad")
    found = {entry["Id"]: entry for entry in result["Successful"]}
    sqs.expect(md5_of({"x": text("y")}), found["b"].get("MD5OfMessageAttributes"), "MD5")
    sqs.true(found["d"].get("MD5OfMessageSystemAttributes"), "no MD5 of the trace")
    sqs.expect((2, 0, 1), sqs.counts(url), "counts")
