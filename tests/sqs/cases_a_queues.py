# SPDX-License-Identifier: Apache-2.0
"""A. Queue management."""

import json
import re

import sign

from harness import INVALID, MISSING
from server import QUICK_CREATE, TRUST_FORWARDED

NAMES = "Can only include alphanumeric characters, hyphens, or underscores. " \
    "1 to 80 in length"
DIFFERENT = "A queue already exists with the same name and a different value for " \
    "attribute %s"
POLICY = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*",' \
    '"Action":"sqs:%s","Resource":"*"}]}'
RECENTLY = "You must wait 60 seconds after deleting a queue before you can create " \
    "another with the same name."
TOO_MANY_TAGS = "Too many tags added for queue %s."


def a01_a_new_queue_has_a_url(sqs):
    name = sqs.name()
    url = sqs.create(name)
    sqs.true(re.fullmatch(re.escape(sqs.server.url) + r"/\d{12}/" + name, url),
             "URL %r", url)
    sqs.expect({"QueueUrl": url}, sqs.ok("GetQueueUrl", QueueName=name), "GetQueueUrl")


def a01b_a_url_begins_with_the_host_of_the_request(sqs):
    name = sqs.name()
    url = sqs.create(name)
    path = url[len(sqs.server.url):]
    for host in ("queues.example:1234", "localhost", "[::1]:9324"):
        got = sqs.ok("GetQueueUrl", QueueName=name, headers={"Host": host})
        sqs.expect({"QueueUrl": "http://" + host + path}, got, "Host: " + host)


def a01c_forwarded_hosts_count_if_trusted(sqs):
    forwarded = {"X-Forwarded-Host": "queues.example, proxy", "Host": "inner:1",
                 "X-Forwarded-Proto": "https"}
    trusting = sqs.special(*TRUST_FORWARDED)
    for who, start in ((sqs, "http://inner:1/"), (trusting, "https://queues.example/")):
        name = sqs.name()
        who.create(name)
        url = who.ok("GetQueueUrl", QueueName=name, headers=forwarded)["QueueUrl"]
        sqs.true(url.startswith(start), "URL %s", url)
    url = trusting.ok("GetQueueUrl", QueueName=name, headers=dict(
        forwarded, **{"X-Forwarded-Host": "a\"b<c>"}))["QueueUrl"]
    sqs.true(url.split("/")[2] == "inner:1", "URL %s of a host that is none", url)


def a02_create_again_gives_the_same_url(sqs):
    name = sqs.name()
    url = sqs.create(name, DelaySeconds=3)
    sqs.expect(url, sqs.create(name), "no attributes")
    sqs.expect(url, sqs.create(name, DelaySeconds=3), "the same attributes")


def a03_create_again_with_another_delay_is_refused(sqs):
    name = sqs.name()
    sqs.create(name)
    sqs.fails("QueueNameExists", DIFFERENT % "DelaySeconds", "CreateQueue",
              QueueName=name, Attributes={"DelaySeconds": "7"})


def a03b_create_again_compares_every_attribute(sqs):
    arns = [sqs.arn(sqs.queue()) for _ in range(2)]

    def redrive(arn, count):
        return json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": count})

    def allow(*sources):
        return json.dumps({"redrivePermission": "byQueue",
                           "sourceQueueArns": list(sources)})

    for name, first, *others in (
            ("DelaySeconds", "1", "2"), ("MaximumMessageSize", "1024", "2048"),
            ("MessageRetentionPeriod", "60", "61"), ("VisibilityTimeout", "1", "0"),
            ("ReceiveMessageWaitTimeSeconds", "1", "2"),
            ("SqsManagedSseEnabled", "true", "false"), ("KmsMasterKeyId", "one", "two"),
            ("Policy", POLICY % "SendMessage", POLICY % "ReceiveMessage"),
            ("RedrivePolicy", redrive(arns[0], 3), redrive(arns[0], 4),
             redrive(arns[1], 3)),
            ("RedriveAllowPolicy", allow(arns[0]), allow(arns[1]), allow(*arns),
             '{"redrivePermission":"denyAll"}')):
        queue = sqs.name()
        url = sqs.create(queue, **{name: first})
        sqs.expect(url, sqs.create(queue, **{name: first}), name)
        for other in others:
            sqs.fails("QueueNameExists", DIFFERENT % name, "CreateQueue",
                      QueueName=queue, Attributes={name: other})


def a04_create_again_compares_with_current_values(sqs):
    name = sqs.name()
    url = sqs.create(name, VisibilityTimeout=10)
    sqs.set(url, VisibilityTimeout=20)
    sqs.fails("QueueNameExists", DIFFERENT % "VisibilityTimeout", "CreateQueue",
              QueueName=name, Attributes={"VisibilityTimeout": "10"})
    sqs.expect(url, sqs.create(name, VisibilityTimeout=20), "the new value")


def a05_create_again_after_messages(sqs):
    name = sqs.name()
    url = sqs.create(name, VisibilityTimeout=10)
    sqs.send(url, "one")
    sqs.send(url, "two")
    sqs.receive(url, 1)
    sqs.expect(url, sqs.create(name, VisibilityTimeout=10), "with messages")


def a06_names_of_queues(sqs):
    base = sqs.name()
    sqs.create(base + "x" * (80 - len(base)))
    sqs.attributes(sqs.create("q"))
    sqs.create("_-AZaz09")
    for name in (base + "x" * (81 - len(base)), "", "a/b/", "!@", "a b", "ä"):
        sqs.fails(INVALID, NAMES, "CreateQueue", QueueName=name)
    fifo = {"FifoQueue": "true"}
    sqs.ok("CreateQueue", QueueName=base + "x" * (75 - len(base)) + ".fifo",
           Attributes=fifo)
    sqs.fails(INVALID, None, "CreateQueue", Attributes=fifo,
              QueueName=base + "x" * (76 - len(base)) + ".fifo")
    sqs.fails(MISSING, "The request must contain the parameter QueueName.",
              "CreateQueue")


def a07_fifo_names_and_fifo_queues_belong_together(sqs):
    sqs.fails(INVALID, None, "CreateQueue", QueueName=sqs.name(".fifo"))
    sqs.fails(INVALID, None, "CreateQueue", QueueName=sqs.name(),
              Attributes={"FifoQueue": "true"})


def a08_fifo_false_is_no_attribute(sqs):
    sqs.fails("InvalidAttributeName", "Unknown Attribute FifoQueue.", "CreateQueue",
              QueueName=sqs.name(), Attributes={"FifoQueue": "false"})


def a09_attributes_of_fifo_on_a_standard_queue(sqs):
    for name, value in (("DeduplicationScope", "messageGroup"),
                        ("FifoThroughputLimit", "perQueue")):
        sqs.fails("InvalidAttributeName",
                  "You can specify the %s only when FifoQueue is set to true." % name,
                  "CreateQueue", QueueName=sqs.name(), Attributes={name: value})


def a10_a_name_rests_for_60_seconds(sqs):
    name = sqs.name()
    url = sqs.create(name)
    sqs.ok("DeleteQueue", QueueUrl=url)
    sqs.fails("QueueDeletedRecently", RECENTLY, "CreateQueue", QueueName=name)


def a10c_the_rest_is_of_one_region(sqs):
    """And of one account."""
    name = sqs.name()
    sqs.ok("DeleteQueue", QueueUrl=sqs.create(name))
    west = sqs.with_client(sqs.client.in_region("eu-west-1"))
    sqs.true(name in west.create(name), "not created in another region")
    other = sqs.with_client(sqs.client.with_key(sign.Key("222222222222", "test")))
    sqs.true("/222222222222/" in other.create(name), "not created in another account")


def a10b_the_rest_can_be_switched_off(sqs):
    sqs = sqs.special(*QUICK_CREATE)
    name = sqs.name()
    url = sqs.create(name)
    sqs.send(url, "of the first life")
    sqs.ok("DeleteQueue", QueueUrl=url)
    sqs.expect(url, sqs.create(name), "at once")
    sqs.expect([], sqs.bodies(url), "messages of the first life")


def a11_actions_on_a_queue_that_is_not_there(sqs):
    url = sqs.server.url + "/000000000000/" + sqs.name()
    handle = {"ReceiptHandle": "x"}
    for action, more in (
            ("SendMessage", {"MessageBody": "x"}),
            ("SendMessageBatch", {"Entries": [{"Id": "a", "MessageBody": "x"}]}),
            ("ReceiveMessage", {}),
            ("DeleteMessage", handle),
            ("DeleteMessageBatch", {"Entries": [dict(handle, Id="a")]}),
            ("ChangeMessageVisibility", dict(handle, VisibilityTimeout=1)),
            ("ChangeMessageVisibilityBatch",
             {"Entries": [dict(handle, Id="a", VisibilityTimeout=1)]}),
            ("GetQueueAttributes", {"AttributeNames": ["All"]}),
            ("SetQueueAttributes", {"Attributes": {"DelaySeconds": "1"}}),
            ("PurgeQueue", {}), ("DeleteQueue", {}), ("ListQueueTags", {}),
            ("TagQueue", {"Tags": {"a": "b"}}), ("UntagQueue", {"TagKeys": ["a"]}),
            ("ListDeadLetterSourceQueues", {}),
            ("RemovePermission", {"Label": "x"})):
        sqs.no_queue(action, dict(more, QueueUrl=url))
    sqs.no_queue("GetQueueUrl", QueueName=sqs.name())


def a12_what_a_queue_url_may_be(sqs):
    name = sqs.name()
    url = sqs.create(name)
    account = url.split("/")[-2]
    for good in (name, "http://elsewhere:1/%s/%s" % (account, name),
                 "https://sqs.us-east-1.amazonaws.com/%s/%s" % (account, name),
                 "/%s/%s" % (account, name)):
        sqs.expect(name, sqs.attributes(good, "QueueArn")["QueueArn"].split(":")[-1],
                   good)
    for bad in ("http://whatever", "http://", "", "not a name!", "http://h/" + "x" * 90,
                "http://h/elsewhere/" + name, "http://h/a/b/c/" + name,
                "http://h/12345/" + name, url + "/more", url + "x"):
        sqs.no_queue("SendMessage", QueueUrl=bad, MessageBody="x")
    sqs.no_queue("SendMessage", MessageBody="x")


def a12b_queue_urls_of_other_servers(sqs):
    name = sqs.name()
    url = sqs.create(name)
    account = url.split("/")[-2]
    for path in ("/queue/" + name, "/queues/" + name,
                 "/queue/us-east-1/%s/%s" % (account, name)):
        sqs.send(sqs.server.url + path, path)
        sqs.expect([path], sqs.bodies(url), path)


def a13_list_queues_by_prefix_and_page(sqs):
    prefix = sqs.name("-")
    urls = {sqs.create(prefix + str(i)) for i in range(10)}
    every = sqs.ok("ListQueues", QueueNamePrefix=prefix)
    sqs.expect(urls, set(every.get("QueueUrls", [])), "all")
    sqs.expect(10, len(every.get("QueueUrls", [])), "each once")
    sqs.expect(["QueueUrls"], list(every), "no token without MaxResults")

    first = sqs.ok("ListQueues", QueueNamePrefix=prefix, MaxResults=2)
    sqs.expect(2, len(first["QueueUrls"]), "first page")
    sqs.true(first.get("NextToken"), "no NextToken")
    rest = sqs.ok("ListQueues", QueueNamePrefix=prefix, MaxResults=8,
                  NextToken=first.get("NextToken", ""))
    sqs.expect(8, len(rest["QueueUrls"]), "second page")
    sqs.true("NextToken" not in rest, "a NextToken on the last page")
    sqs.expect(urls, set(first["QueueUrls"]) | set(rest["QueueUrls"]), "both pages")
    for wrong in (0, 1001):
        sqs.fails(INVALID, None, "ListQueues", QueueNamePrefix=prefix, MaxResults=wrong)
    sqs.ok("ListQueues", QueueNamePrefix=prefix, MaxResults=1000)


def a13b_list_queues_page_by_page(sqs):
    prefix = sqs.name("-")
    urls = [sqs.create(prefix + str(i)) for i in range(7)]
    seen, more, pages = [], {}, 0
    while pages < 10:
        page = sqs.ok("ListQueues", QueueNamePrefix=prefix, MaxResults=2, **more)
        seen += page.get("QueueUrls", [])
        pages += 1
        if "NextToken" not in page:
            break
        more = {"NextToken": page["NextToken"]}
    sqs.expect(sorted(urls), sorted(seen), "all pages")
    sqs.expect(4, pages, "pages")


def a14_list_queues_without_a_match(sqs):
    sqs.expect({}, sqs.ok("ListQueues", QueueNamePrefix=sqs.name()), "no match")


def a15_delete_twice(sqs):
    name = sqs.name()
    url = sqs.create(name)
    sqs.ok("DeleteQueue", QueueUrl=url)
    sqs.no_queue("DeleteQueue", QueueUrl=url)
    sqs.no_queue("GetQueueUrl", QueueName=name)


def a16_tags(sqs):
    name = sqs.name()
    url = sqs.ok("CreateQueue", QueueName=name, tags={"a": "1", "b": ""})["QueueUrl"]

    def tags():
        return sqs.ok("ListQueueTags", QueueUrl=url).get("Tags")

    sqs.expect({"a": "1", "b": ""}, tags(), "of create")
    sqs.ok("TagQueue", QueueUrl=url, Tags={"a": "2", "A": "3"})
    sqs.expect({"a": "2", "b": "", "A": "3"}, tags(), "overwritten and added")
    sqs.ok("CreateQueue", QueueName=name, tags={"z": "26"})
    sqs.expect({"a": "2", "b": "", "A": "3"}, tags(), "a second create")
    sqs.ok("UntagQueue", QueueUrl=url, TagKeys=["a", "not there"])
    sqs.expect({"b": "", "A": "3"}, tags(), "untagged")
    sqs.ok("UntagQueue", QueueUrl=url, TagKeys=["b", "A"])
    sqs.expect({}, sqs.ok("ListQueueTags", QueueUrl=url), "no member when empty")


def a17_limits_of_tags(sqs):
    url = sqs.queue()
    sqs.ok("TagQueue", QueueUrl=url, Tags={"k%d" % i: "v" for i in range(49)})
    sqs.fails(INVALID, TOO_MANY_TAGS % url.split("/")[-1], "TagQueue", QueueUrl=url,
              Tags={"x": "1", "y": "2"})
    sqs.expect(49, len(sqs.ok("ListQueueTags", QueueUrl=url)["Tags"]), "unchanged")
    sqs.ok("TagQueue", QueueUrl=url, Tags={"x": "1", "k1": "w"})
    name = sqs.name()
    many = {"k%d" % i: "v" for i in range(51)}
    sqs.fails(INVALID, TOO_MANY_TAGS % name, "CreateQueue", QueueName=name, tags=many)
    sqs.fails(INVALID, TOO_MANY_TAGS % url.split("/")[-1], "TagQueue", QueueUrl=url,
              Tags=many)
    for keys in ([], ["k" * 129]):
        sqs.fails(INVALID, "Tag keys must be between 1 and 128 characters in length.",
                  "UntagQueue", QueueUrl=url, TagKeys=keys)
    sqs.fails(MISSING, "The request must contain the parameter Tags.", "TagQueue",
              QueueUrl=url, Tags={})


def a18_regions_are_separate(sqs):
    name = sqs.name()
    here = sqs.with_client(sqs.client.in_region("us-east-1"))
    there = sqs.with_client(sqs.client.in_region("eu-central-1"))
    url = here.create(name)
    there.no_queue("GetQueueUrl", QueueName=name)
    there.no_queue("SendMessage", QueueUrl=url, MessageBody="x")
    sqs.expect({}, there.ok("ListQueues", QueueNamePrefix=name), "listed there")

    other = there.create(name, DelaySeconds=0)
    sqs.true(there.arn(other).startswith("arn:aws:sqs:eu-central-1:"), "ARN %s",
             there.arn(other))
    sqs.true(here.arn(url).startswith("arn:aws:sqs:us-east-1:"), "ARN %s", here.arn(url))
    here.send(url, "here")
    sqs.expect([], there.bodies(other), "messages there")
    there.ok("DeleteQueue", QueueUrl=other)
    sqs.expect(["here"], here.bodies(url), "messages here")
