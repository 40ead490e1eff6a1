# SPDX-License-Identifier: Apache-2.0
"""B. Attributes of queues."""

import json
import re
import time

from harness import INVALID, Later

DEFAULTS = {
    "ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0",
    "ApproximateNumberOfMessagesDelayed": "0", "DelaySeconds": "0",
    "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "345600",
    "ReceiveMessageWaitTimeSeconds": "0", "VisibilityTimeout": "30",
    "SqsManagedSseEnabled": "true",
}
VARYING = ("CreatedTimestamp", "LastModifiedTimestamp", "QueueArn")
POLICY = json.dumps({"Version": "2012-10-17", "Statement": [{
    "Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sqs:SendMessage",
    "Resource": "*"}]})
RANGES = {
    "DelaySeconds": (0, 900), "MaximumMessageSize": (1024, 1048576),
    "MessageRetentionPeriod": (60, 1209600), "ReceiveMessageWaitTimeSeconds": (0, 20),
    "VisibilityTimeout": (0, 43200), "KmsDataKeyReusePeriodSeconds": (60, 86400),
}


def check_defaults(sqs, url, defaults):
    found = sqs.attributes(url)
    sqs.expect(sorted([*defaults, *VARYING]), sorted(found), "names")
    sqs.expect(defaults, {name: value for name, value in found.items()
                          if name not in VARYING}, "values")
    sqs.true(re.fullmatch(r"arn:aws:sqs:[a-z0-9-]+:\d{12}:" +
                          re.escape(url.split("/")[-1]), found.get("QueueArn", "")),
             "QueueArn %s", found.get("QueueArn"))
    for name in VARYING[:2]:
        sqs.true(abs(time.time() - int(found[name])) < 86400, "%s is %s: no seconds",
                 name, found[name])


def b19_all_of_a_standard_queue(sqs):
    check_defaults(sqs, sqs.queue(), DEFAULTS)


def b20_all_of_a_fifo_queue(sqs):
    url = sqs.create(sqs.name(".fifo"), FifoQueue="true")
    check_defaults(sqs, url, dict(
        DEFAULTS, FifoQueue="true", ContentBasedDeduplication="false",
        DeduplicationScope="queue", FifoThroughputLimit="perQueue"))


def b21_only_what_is_asked_for(sqs):
    url = sqs.queue()
    sqs.expect({}, sqs.ok("GetQueueAttributes", QueueUrl=url), "no names")
    sqs.expect({"DelaySeconds": "0"}, sqs.attributes(url, "DelaySeconds"), "one name")
    sqs.expect({"DelaySeconds": "0", "VisibilityTimeout": "30"},
               sqs.attributes(url, "DelaySeconds", "VisibilityTimeout"), "two names")
    sqs.expect({}, sqs.ok("GetQueueAttributes", QueueUrl=url, AttributeNames=["Policy"]),
               "one that is not set")
    sqs.fails("InvalidAttributeName", "Unknown Attribute Foo.", "GetQueueAttributes",
              QueueUrl=url, AttributeNames=["Foo"])
    sqs.fails("InvalidAttributeName", "Unknown Attribute Foo.", "GetQueueAttributes",
              QueueUrl=url, AttributeNames=["DelaySeconds", "Foo"])


def b22_values_out_of_range(sqs):
    url = sqs.queue()
    before = sqs.attributes(url)
    for name, (least, most) in RANGES.items():
        for value in (least - 1, most + 1, "abc", "", "1.5", "99999999999999999999"):
            sqs.fails("InvalidAttributeValue", None, "SetQueueAttributes", QueueUrl=url,
                      Attributes={name: str(value)})
        sqs.fails("InvalidAttributeValue", None, "CreateQueue", QueueName=sqs.name(),
                  Attributes={name: str(most + 1)})
    # A wrong value spoils the right ones beside it.
    sqs.fails("InvalidAttributeValue", None, "SetQueueAttributes", QueueUrl=url,
              Attributes={"DelaySeconds": "5", "VisibilityTimeout": "-1"})
    sqs.expect(before, sqs.attributes(url), "nothing changed")


def b22b_values_in_range(sqs):
    url = sqs.queue()
    for name, (least, most) in RANGES.items():
        if name.startswith("Kms"):
            continue
        for value in (least, most):
            sqs.set(url, **{name: value})
            sqs.expect({name: str(value)}, sqs.attributes(url, name), name)


def b22c_unknown_and_read_only_names(sqs):
    url = sqs.queue()
    for name in ("Foo", "QueueArn", "CreatedTimestamp", "ApproximateNumberOfMessages"):
        sqs.fails("InvalidAttributeName", "Unknown Attribute %s." % name,
                  "SetQueueAttributes", QueueUrl=url, Attributes={name: "1"})
        sqs.fails("InvalidAttributeName", "Unknown Attribute %s." % name,
                  "CreateQueue", QueueName=sqs.name(), Attributes={name: "1"})


def b23_empty_policies_disappear(sqs):
    url = sqs.queue()
    dead = json.dumps({"deadLetterTargetArn": sqs.arn(sqs.queue()),
                       "maxReceiveCount": 5})
    allow = json.dumps({"redrivePermission": "denyAll"})
    given = {"Policy": POLICY, "RedrivePolicy": dead, "RedriveAllowPolicy": allow}
    for name, value in given.items():
        sqs.set(url, **{name: ""})
        sqs.true(name not in sqs.attributes(url), "%s after nothing was set", name)
        sqs.set(url, **{name: value})
        sqs.expect(json.loads(value), json.loads(sqs.attributes(url)[name]), name)
        sqs.expect(json.loads(value), json.loads(sqs.attributes(url, name)[name]), name)
        sqs.set(url, **{name: ""})
        sqs.true(name not in sqs.attributes(url), "%s is still there", name)


def b24_redrive_policies(sqs):
    url = sqs.queue()
    target = sqs.arn(sqs.queue())
    fifo = sqs.arn(sqs.fifo())
    for policy in (
            {"maxReceiveCount": 1}, {"deadLetterTargetArn": target},
            {"deadLetterTargetArn": target, "maxReceiveCount": "invalid"},
            {"deadLetterTargetArn": target, "maxReceiveCount": 0},
            {"deadLetterTargetArn": target, "maxReceiveCount": 1001},
            {"deadLetterTargetArn": target + "x", "maxReceiveCount": 1},
            {"deadLetterTargetArn": "dummy", "maxReceiveCount": 1},
            {"deadLetterTargetArn": fifo, "maxReceiveCount": 1}):
        sqs.fails(INVALID, None, "SetQueueAttributes", QueueUrl=url,
                  Attributes={"RedrivePolicy": json.dumps(policy)})
        sqs.fails(INVALID, None, "CreateQueue", QueueName=sqs.name(),
                  Attributes={"RedrivePolicy": json.dumps(policy)})
    sqs.true("RedrivePolicy" not in sqs.attributes(url), "something was set")
    for count in (1, 1000):
        for form in ('{"deadLetterTargetArn":"%s","maxReceiveCount":%d}',
                     ' { "deadLetterTargetArn" : "%s",  "maxReceiveCount": %d }'):
            policy = form % (target, count)
            sqs.set(url, RedrivePolicy=policy)
            sqs.expect(policy, sqs.attributes(url)["RedrivePolicy"], "as it was sent")


def b24b_a_count_that_is_a_string_becomes_a_number(sqs):
    target = sqs.arn(sqs.queue())
    given = json.dumps({"maxReceiveCount": "3", "deadLetterTargetArn": target})
    stored = '{"deadLetterTargetArn":"%s","maxReceiveCount":3}' % target
    name = sqs.name()
    url = sqs.create(name, RedrivePolicy=given)
    sqs.expect(stored, sqs.attributes(url)["RedrivePolicy"], "of create")
    for again in (given, stored):
        sqs.expect(url, sqs.create(name, RedrivePolicy=again), "created again")
    url = sqs.queue()
    sqs.set(url, RedrivePolicy=given)
    sqs.expect(stored, sqs.attributes(url)["RedrivePolicy"], "of set")


def b24c_targets_that_are_no_queues(sqs):
    url = sqs.queue()
    for target, reason in (
            ("dummy", "Invalid value for deadLetterTargetArn."),
            ("", "Invalid value for deadLetterTargetArn."),
            ("arn:aws:sns:us-east-1:000000000000:topic",
             "Only SQS queues are valid resources for deadLetterTargetArn.")):
        policy = '{"deadLetterTargetArn":"%s","maxReceiveCount":1}' % target
        sqs.fails(INVALID, "Value %s for parameter RedrivePolicy is invalid. Reason: %s" % (
            policy, reason), "SetQueueAttributes", QueueUrl=url,
            Attributes={"RedrivePolicy": policy})


def b25_redrive_allow_policies(sqs):
    source, other, dead = sqs.queue(), sqs.queue(), sqs.queue()
    redrive = {"RedrivePolicy": json.dumps(
        {"deadLetterTargetArn": sqs.arn(dead), "maxReceiveCount": 3})}

    def allow(**policy):
        sqs.set(dead, RedriveAllowPolicy=json.dumps(policy))

    allow(redrivePermission="denyAll")
    sqs.fails(INVALID, None, "SetQueueAttributes", QueueUrl=source, Attributes=redrive)
    allow(redrivePermission="byQueue", sourceQueueArns=[sqs.arn(other)])
    sqs.fails(INVALID, None, "SetQueueAttributes", QueueUrl=source, Attributes=redrive)
    sqs.ok("SetQueueAttributes", QueueUrl=other, Attributes=redrive)
    allow(redrivePermission="byQueue", sourceQueueArns=[sqs.arn(source)])
    sqs.ok("SetQueueAttributes", QueueUrl=source, Attributes=redrive)
    allow(redrivePermission="allowAll")
    sqs.ok("SetQueueAttributes", QueueUrl=other, Attributes=redrive)
    arn = sqs.arn(source)
    for policy in ({"redrivePermission": "byQueue"},
                   {"redrivePermission": "allowAll", "sourceQueueArns": [arn]},
                   {"redrivePermission": "byQueue",
                    "sourceQueueArns": [arn + str(i) for i in range(11)]},
                   {"redrivePermission": "sometimes"}):
        sqs.fails(INVALID, None, "SetQueueAttributes", QueueUrl=dead,
                  Attributes={"RedriveAllowPolicy": json.dumps(policy)})


def b26_keys_and_managed_encryption(sqs):
    url = sqs.queue()
    sqs.set(url, KmsMasterKeyId="testKeyId", KmsDataKeyReusePeriodSeconds=6000)
    found = sqs.attributes(url)
    sqs.expect(("testKeyId", "6000", "false"),
               (found.get("KmsMasterKeyId"), found.get("KmsDataKeyReusePeriodSeconds"),
                found.get("SqsManagedSseEnabled")), "with a key")
    one = "You can use one type of server-side encryption (SSE) at one time. " \
        "You can either enable KMS SSE or SQS SSE."
    both = {"KmsMasterKeyId": "testKeyId", "SqsManagedSseEnabled": "true"}
    sqs.fails("InvalidAttributeName", one, "SetQueueAttributes", QueueUrl=url,
              Attributes=both)
    sqs.fails("InvalidAttributeName", one, "CreateQueue", QueueName=sqs.name(),
              Attributes=both)
    sqs.set(url, KmsMasterKeyId="", KmsDataKeyReusePeriodSeconds=300)
    found = sqs.attributes(url)
    sqs.true("KmsMasterKeyId" not in found, "the key is still there")
    sqs.true("KmsDataKeyReusePeriodSeconds" not in found, "its period is still there")
    sqs.expect("false", found.get("SqsManagedSseEnabled"), "without the key")
    sqs.set(url, SqsManagedSseEnabled="true")
    sqs.expect("true", sqs.attributes(url).get("SqsManagedSseEnabled"), "again")


def b27_the_type_of_a_queue_stays(sqs):
    standard, fifo = sqs.queue(), sqs.fifo()
    for value in ("true", "false"):
        sqs.fails("InvalidAttributeName", "Unknown Attribute FifoQueue.",
                  "SetQueueAttributes", QueueUrl=standard,
                  Attributes={"FifoQueue": value})
    sqs.set(fifo, FifoQueue="true")
    sqs.fails("InvalidAttributeValue", "Invalid value for the parameter FifoQueue. "
              "Reason: Modifying queue type is not supported.", "SetQueueAttributes",
              QueueUrl=fifo, Attributes={"FifoQueue": "false"})
    for name, value in (("DeduplicationScope", "messageGroup"),
                        ("FifoThroughputLimit", "perMessageGroupId")):
        sqs.fails("InvalidAttributeName",
                  "You can specify the %s only when FifoQueue is set to true." % name,
                  "SetQueueAttributes", QueueUrl=standard, Attributes={name: value})


def b27b_attributes_of_fifo_queues_change(sqs):
    url = sqs.fifo()
    sqs.set(url, ContentBasedDeduplication="false", DeduplicationScope="messageGroup",
            FifoThroughputLimit="perMessageGroupId")
    found = sqs.attributes(url)
    sqs.expect(("false", "messageGroup", "perMessageGroupId"), tuple(
        found[name] for name in ("ContentBasedDeduplication", "DeduplicationScope",
                                 "FifoThroughputLimit")), "changed")
    for name in ("ContentBasedDeduplication", "DeduplicationScope",
                 "FifoThroughputLimit"):
        sqs.fails("InvalidAttributeValue", None, "SetQueueAttributes", QueueUrl=url,
                  Attributes={name: "perhaps"})


def b28_timestamps_of_a_queue(sqs):
    url = sqs.queue()
    first = sqs.attributes(url)
    sqs.let_pass(2)
    sqs.set(url, DelaySeconds=1)
    second = sqs.attributes(url)
    sqs.expect(first["CreatedTimestamp"], second["CreatedTimestamp"], "created")
    sqs.true(int(second["LastModifiedTimestamp"]) > int(first["LastModifiedTimestamp"]),
             "LastModifiedTimestamp %s stayed", second["LastModifiedTimestamp"])


def b29_counts_of_messages(sqs):
    url = sqs.queue()
    sqs.send(url, "delayed", DelaySeconds=900)
    sqs.send(url, "one")
    sqs.send(url, "two")
    sqs.expect((2, 0, 1), sqs.counts(url), "sent")
    first = sqs.one(url)
    sqs.expect((1, 1, 1), sqs.counts(url), "received")
    sqs.visibility(url, first, 0)
    sqs.expect((2, 0, 1), sqs.counts(url), "returned")
    for message in sqs.await_messages(url, 2):
        sqs.delete(url, message)
    sqs.expect((0, 0, 1), sqs.counts(url), "deleted")
    sqs.ok("PurgeQueue", QueueUrl=url)
    sqs.expect((0, 0, 0), sqs.counts(url), "purged")


def b29b_purge_removes_all_and_rests(sqs):
    name = sqs.name()
    url = sqs.create(name)
    sqs.send(url, "in flight")
    sqs.one(url, VisibilityTimeout=1)
    sqs.send(url, "visible")
    sqs.send(url, "delayed", DelaySeconds=1)
    sqs.ok("PurgeQueue", QueueUrl=url)
    sqs.fails("PurgeQueueInProgress", "Only one PurgeQueue operation on %s is allowed "
              "every 60 seconds." % name, "PurgeQueue", QueueUrl=url)
    sqs.expect([], sqs.bodies(url, wait=2), "after the purge")
    sqs.send(url, "new")
    sqs.expect("new", sqs.one(url)["Body"], "sent after the purge")


def b30_permissions_make_a_policy(sqs):
    url = sqs.queue()
    arn = sqs.arn(url)

    def policy():
        return json.loads(sqs.attributes(url, "Policy").get("Policy", "{}"))

    def statement(label, principal, action):
        return {"Sid": label, "Effect": "Allow", "Principal": {"AWS": principal},
                "Action": action, "Resource": arn}

    root = "arn:aws:iam::%s:root"
    sqs.ok("AddPermission", QueueUrl=url, Label="one", AWSAccountIds=["111111111111"],
           Actions=["SendMessage"])
    first = statement("one", root % "111111111111", "SQS:SendMessage")
    sqs.expect({"Version": "2008-10-17", "Id": arn + "/SQSDefaultPolicy",
                "Statement": [first]}, policy(), "one")
    sqs.ok("AddPermission", QueueUrl=url, Label="more",
           AWSAccountIds=["111111111111", "222222222222"],
           Actions=["SendMessage", "ReceiveMessage"])
    second = statement("more", [root % "111111111111", root % "222222222222"],
                       ["SQS:SendMessage", "SQS:ReceiveMessage"])
    sqs.expect([first, second], policy().get("Statement"), "two")

    sqs.fails(INVALID, "Value more for parameter Label is invalid. Reason: "
              "Already exists.", "AddPermission", QueueUrl=url, Label="more",
              AWSAccountIds=["111111111111"], Actions=["SendMessage"])
    sqs.fails(INVALID, "Value none for parameter Label is invalid. Reason: "
              "can't find label.", "RemovePermission", QueueUrl=url, Label="none")
    sqs.ok("RemovePermission", QueueUrl=url, Label="one")
    sqs.expect([second], policy().get("Statement"), "the first is removed")
    sqs.ok("RemovePermission", QueueUrl=url, Label="more")
    sqs.true("Policy" not in sqs.attributes(url), "the last is removed, Policy is not")
    for label, account in (("l" * 81, "111111111111"), ("a b", "111111111111"),
                           ("l", "11111111111"), ("l", "1111111111111"),
                           ("l", "11111111111x")):
        sqs.fails(INVALID, None, "AddPermission", QueueUrl=url, Label=label,
                  AWSAccountIds=[account], Actions=["SendMessage"])
    sqs.ok("AddPermission", QueueUrl=url, Label="l" * 80,
           AWSAccountIds=["111111111111"], Actions=["*"])


def b30b_at_most_seven_actions(sqs):
    url = sqs.queue()
    sqs.fails("OverLimit", "8 Actions were found, maximum allowed is 7.",
              "AddPermission", QueueUrl=url, Label="all", AWSAccountIds=["111111111111"],
              Actions=["SendMessage", "ReceiveMessage", "DeleteMessage", "PurgeQueue",
                       "ChangeMessageVisibility", "GetQueueAttributes", "GetQueueUrl",
                       "ListDeadLetterSourceQueues"])
    for action, why in (
            ("CreateQueue", "Only the queue owner is allowed to invoke this action."),
            ("TagQueue", "Only the queue owner is allowed to invoke this action."),
            ("Nothing", "Please refer to the appropriate WSDL for a list of valid "
             "actions.")):
        sqs.fails(INVALID, "Value SQS:%s for parameter ActionName is invalid. Reason: %s"
                  % (action, why), "AddPermission", QueueUrl=url, Label="one",
                  AWSAccountIds=["111111111111"], Actions=["SendMessage", action])
    sqs.true("Policy" not in sqs.attributes(url), "a policy was made")


def b31_changes_at_the_same_time(sqs):
    """Each is made to what the one before has left."""
    url = sqs.queue()
    before = {"DelaySeconds": "0", "VisibilityTimeout": "0", "MaximumMessageSize": "1024",
              "MessageRetentionPeriod": "60", "ReceiveMessageWaitTimeSeconds": "0",
              "Policy": ""}
    after = {"DelaySeconds": "1", "VisibilityTimeout": "41", "MaximumMessageSize": "1041",
             "MessageRetentionPeriod": "141", "ReceiveMessageWaitTimeSeconds": "1",
             "Policy": "{}"}
    for _ in range(5):
        sqs.set(url, **before)
        calls = [Later(sqs.set, url, **{name: value}) for name, value in after.items()]
        for call in calls:
            call.get()
        sqs.expect(after, sqs.attributes(url, *after), "all are set")


def b31b_permissions_and_tags_at_the_same_time(sqs):
    url = sqs.queue()
    labels = ["label%d" % i for i in range(8)]
    calls = [sqs.later("AddPermission", QueueUrl=url, Label=label,
                       AWSAccountIds=["111111111111"], Actions=["SendMessage"])
             for label in labels]
    calls += [sqs.later("TagQueue", QueueUrl=url, Tags={label: "x"}) for label in labels]
    for call in calls:
        call.get()
    policy = json.loads(sqs.attributes(url, "Policy")["Policy"])
    sqs.expect(labels, sorted(one["Sid"] for one in policy["Statement"]), "statements")
    sqs.expect(dict.fromkeys(labels, "x"), sqs.ok("ListQueueTags", QueueUrl=url).get(
        "Tags"), "tags")
