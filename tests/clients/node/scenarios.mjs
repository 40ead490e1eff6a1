// SPDX-License-Identifier: Apache-2.0
// The scenarios for Node's clients; scenarios.py has the same ones.
//
//     node scenarios.mjs current|query|consumer
//
// Clients check the MD5 of bodies by themselves, and throw if one is wrong.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";

const TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793";
const AWS = "AWS.SimpleQueueService.";
const REFUSED = "refused by the handler";
const SETTINGS = {
  endpoint: process.env.ENDPOINT,
  region: process.env.AWS_REGION,
  maxAttempts: 1,
  credentials: {
    accessKeyId: process.env.AWS_ACCESS_KEY_ID,
    secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY,
  },
};

/** A client of version 3, of any release: call(action, members). */
async function open(module) {
  const sdk = await import(module);
  const sqs = new sdk.SQSClient(SETTINGS);
  const call = (action, members = {}) => sqs.send(new sdk[action + "Command"](members));
  return { sdk, sqs, call };
}

class Scenarios {
  constructor(name, { sdk, call }) {
    Object.assign(this, { name, sdk, call, count: 0 });
  }

  async queue(Attributes = {}, suffix = "") {
    this.count += 1;
    const QueueName = `${this.name}-${this.count}${suffix}`;
    return (await this.call("CreateQueue", { QueueName, Attributes })).QueueUrl;
  }

  fifo(attributes) {
    return this.queue({ FifoQueue: "true", ...attributes }, ".fifo");
  }

  async attributes(QueueUrl, ...AttributeNames) {
    return (await this.call("GetQueueAttributes", { QueueUrl, AttributeNames })).Attributes;
  }

  /** So many messages, which have to come. */
  async receive(QueueUrl, count, more = {}) {
    const messages = [];
    for (let i = 0; i < 20 && messages.length < count; i++) {
      const got = await this.call("ReceiveMessage", {
        QueueUrl, WaitTimeSeconds: 5, MaxNumberOfMessages: count - messages.length, ...more,
      });
      messages.push(...(got.Messages ?? []));
    }
    assert.equal(messages.length, count, "messages");
    return messages;
  }

  /** Refused with the code of Query, and with the SDK's class if it has one. */
  async refused(code, kind, action, members) {
    let error;
    await this.call(action, members).catch((thrown) => (error = thrown));
    assert.ok(error, `${action} was not refused`);
    const said = error.Code ?? error.Error?.Code ?? error.name;
    assert.ok([error.name, said].includes(code) || error.name === kind,
      `${action}: ${error.name} (${said}): ${error.message}, not ${code}`);
    if (this.sdk[kind] && this.name === "current")
      assert.ok(error instanceof this.sdk[kind], `${action}: ${error.name} is no ${kind}`);
  }

  async create_find_and_delete_a_queue() {
    const QueueUrl = await this.queue({ VisibilityTimeout: "40" });
    const QueueName = QueueUrl.split("/").at(-1);
    assert.equal((await this.call("GetQueueUrl", { QueueName })).QueueUrl, QueueUrl);
    const found = await this.attributes(QueueUrl, "All");
    assert.equal(found.VisibilityTimeout, "40");
    assert.ok(found.QueueArn.endsWith(":" + QueueName));
    await this.call("SetQueueAttributes", { QueueUrl, Attributes: { DelaySeconds: "3" } });
    assert.deepEqual(await this.attributes(QueueUrl, "DelaySeconds"), { DelaySeconds: "3" });
    await this.call("DeleteQueue", { QueueUrl });
    await this.refused(AWS + "NonExistentQueue", "QueueDoesNotExist", "GetQueueUrl",
      { QueueName });
  }

  async send_and_receive_with_attributes() {
    const QueueUrl = await this.queue();
    const MessageAttributes = {
      text: { DataType: "String", StringValue: "\u00e9 & <x>" },
      number: { DataType: "Number.int", StringValue: "12" },
      bytes: { DataType: "Binary", BinaryValue: Uint8Array.from({ length: 256 }, (_, i) => i) },
    };
    const MessageBody = "line\r\nline \u{1f4ec} \"quoted\" <&>";
    const sent = await this.call("SendMessage", {
      QueueUrl, MessageBody, MessageAttributes,
      MessageSystemAttributes: {
        AWSTraceHeader: { DataType: "String", StringValue: TRACE },
      },
    });
    assert.equal(sent.MD5OfMessageBody, createHash("md5").update(MessageBody).digest("hex"));
    const [message] = await this.receive(QueueUrl, 1,
      { AttributeNames: ["All"], MessageAttributeNames: ["All"] });
    assert.equal(message.MessageId, sent.MessageId);
    assert.equal(message.Body, MessageBody);
    assert.equal(message.MD5OfMessageAttributes, sent.MD5OfMessageAttributes);
    for (const [name, wanted] of Object.entries(MessageAttributes)) {
      const got = message.MessageAttributes[name];
      assert.equal(got.DataType, wanted.DataType);
      assert.equal(got.StringValue, wanted.StringValue);
      if (wanted.BinaryValue)
        assert.deepEqual([...got.BinaryValue], [...wanted.BinaryValue]);
    }
    assert.equal(message.Attributes.AWSTraceHeader, TRACE);
    assert.equal(message.Attributes.ApproximateReceiveCount, "1");
  }

  async change_visibility_and_delete() {
    const QueueUrl = await this.queue();
    await this.call("SendMessage", { QueueUrl, MessageBody: "x" });
    const [first] = await this.receive(QueueUrl, 1);
    await this.call("ChangeMessageVisibility",
      { QueueUrl, ReceiptHandle: first.ReceiptHandle, VisibilityTimeout: 0 });
    const [second] = await this.receive(QueueUrl, 1,
      { AttributeNames: ["ApproximateReceiveCount"] });
    assert.deepEqual(second.Attributes, { ApproximateReceiveCount: "2" });
    await this.call("DeleteMessage", { QueueUrl, ReceiptHandle: second.ReceiptHandle });
    assert.deepEqual(await this.attributes(QueueUrl, "ApproximateNumberOfMessages",
      "ApproximateNumberOfMessagesNotVisible"),
    { ApproximateNumberOfMessages: "0", ApproximateNumberOfMessagesNotVisible: "0" });
  }

  async batches() {
    const QueueUrl = await this.queue();
    const bodies = [...Array(9).keys()].map((i) => `body ${i}`).concat("\x01");
    const sent = await this.call("SendMessageBatch", {
      QueueUrl, Entries: bodies.map((MessageBody, i) => ({ Id: `e${i}`, MessageBody })),
    });
    assert.equal(sent.Successful.length, 9);
    assert.equal(sent.Failed.length, 1);
    const [{ Id, Code, SenderFault }] = sent.Failed;
    assert.deepEqual([Id, Code, SenderFault], ["e9", "InvalidMessageContents", true]);
    const messages = await this.receive(QueueUrl, 9);
    const entries = messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));
    const changed = await this.call("ChangeMessageVisibilityBatch", {
      QueueUrl, Entries: entries.map((entry) => ({ ...entry, VisibilityTimeout: 100 })),
    });
    assert.equal(changed.Successful.length, 9);
    entries[0].ReceiptHandle = "garbage";
    const deleted = await this.call("DeleteMessageBatch", { QueueUrl, Entries: entries });
    assert.equal(deleted.Successful.length, 8);
    assert.equal(deleted.Failed[0].Code, "ReceiptHandleIsInvalid");
  }

  async fifo_order_and_deduplication() {
    const QueueUrl = await this.fifo({ ContentBasedDeduplication: "true" });
    const sent = [];
    for (const MessageBody of ["g1-a", "g2-a", "g1-b", "g1-a"])
      sent.push(await this.call("SendMessage",
        { QueueUrl, MessageBody, MessageGroupId: MessageBody.slice(0, 2) }));
    assert.equal(sent[3].MessageId, sent[0].MessageId);
    assert.equal(sent[3].SequenceNumber, sent[0].SequenceNumber);
    assert.ok(sent[0].SequenceNumber < sent[1].SequenceNumber);
    const messages = await this.receive(QueueUrl, 3);
    assert.deepEqual(messages.map(({ Body }) => Body), ["g1-a", "g1-b", "g2-a"]);
  }

  async dead_letters() {
    const dead = await this.queue();
    const { QueueArn } = await this.attributes(dead, "QueueArn");
    const QueueUrl = await this.queue({
      VisibilityTimeout: "0",
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: QueueArn, maxReceiveCount: 1 }),
    });
    const sent = await this.call("SendMessage", { QueueUrl, MessageBody: "poison" });
    await this.receive(QueueUrl, 1);
    const again = await this.call("ReceiveMessage", { QueueUrl });
    assert.equal((again.Messages ?? []).length, 0);
    const [message] = await this.receive(dead, 1);
    assert.equal(message.MessageId, sent.MessageId);
    const found = await this.call("ListDeadLetterSourceQueues", { QueueUrl: dead });
    assert.deepEqual(found.queueUrls, [QueueUrl]);
  }

  async tags() {
    const QueueUrl = await this.queue();
    const tags = async () => (await this.call("ListQueueTags", { QueueUrl })).Tags;
    await this.call("TagQueue", { QueueUrl, Tags: { team: "mail", Team: "Mail" } });
    assert.deepEqual(await tags(), { team: "mail", Team: "Mail" });
    await this.call("UntagQueue", { QueueUrl, TagKeys: ["team", "none"] });
    assert.deepEqual(await tags(), { Team: "Mail" });
    await this.call("UntagQueue", { QueueUrl, TagKeys: ["Team"] });
    assert.deepEqual((await tags()) ?? {}, {});
  }

  async list_page_by_page() {
    const QueueNamePrefix = this.name + "-page-";
    const urls = [];
    for (let i = 0; i < 5; i++)
      urls.push((await this.call("CreateQueue", { QueueName: QueueNamePrefix + i })).QueueUrl);
    const found = [];
    let NextToken;
    for (let i = 0; i < 3; i++) {
      const page = await this.call("ListQueues", { QueueNamePrefix, MaxResults: 2, NextToken });
      found.push(...page.QueueUrls);
      NextToken = page.NextToken;
    }
    assert.deepEqual(found.sort(), urls);
    assert.equal(NextToken, undefined);
  }

  async purge() {
    const QueueUrl = await this.queue();
    await this.call("SendMessage", { QueueUrl, MessageBody: "x" });
    await this.call("PurgeQueue", { QueueUrl });
    assert.equal(((await this.call("ReceiveMessage", { QueueUrl })).Messages ?? []).length, 0);
    await this.refused(AWS + "PurgeQueueInProgress", "PurgeQueueInProgress", "PurgeQueue",
      { QueueUrl });
  }

  async errors_are_the_clients_exceptions() {
    const QueueUrl = await this.queue();
    const QueueName = QueueUrl.split("/").at(-1);
    const entry = { Id: "a", MessageBody: "x" };
    const eleven = [...Array(11).keys()].map((i) => ({ ...entry, Id: `${i}` }));
    const rows = [
      [AWS + "NonExistentQueue", "QueueDoesNotExist", "SendMessage",
        { QueueUrl: QueueUrl + "-not", MessageBody: "x" }],
      ["QueueAlreadyExists", "QueueNameExists", "CreateQueue",
        { QueueName, Attributes: { DelaySeconds: "9" } }],
      ["ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", "DeleteMessage",
        { QueueUrl, ReceiptHandle: "garbage" }],
      ["InvalidMessageContents", "InvalidMessageContents", "SendMessage",
        { QueueUrl, MessageBody: "\x08" }],
      ["InvalidAttributeName", "InvalidAttributeName", "SetQueueAttributes",
        { QueueUrl, Attributes: { Foo: "1" } }],
      [AWS + "EmptyBatchRequest", "EmptyBatchRequest", "SendMessageBatch",
        { QueueUrl, Entries: [] }],
      [AWS + "TooManyEntriesInBatchRequest", "TooManyEntriesInBatchRequest",
        "SendMessageBatch", { QueueUrl, Entries: eleven }],
      [AWS + "BatchEntryIdsNotDistinct", "BatchEntryIdsNotDistinct", "SendMessageBatch",
        { QueueUrl, Entries: [entry, entry] }],
      [AWS + "InvalidBatchEntryId", "InvalidBatchEntryId", "SendMessageBatch",
        { QueueUrl, Entries: [{ ...entry, Id: "a:b" }] }],
      ["InvalidParameterValue", "InvalidParameterValueException", "ReceiveMessage",
        { QueueUrl, MaxNumberOfMessages: 11 }],
      ["OverLimit", "OverLimit", "AddPermission",
        { QueueUrl, Label: "x", AWSAccountIds: ["111111111111"],
          Actions: Array(8).fill("SendMessage") }],
      ["", "", "DeleteQueue", { QueueUrl }],
      [AWS + "QueueDeletedRecently", "QueueDeletedRecently", "CreateQueue", { QueueName }],
    ];
    for (const [code, kind, action, members] of rows) {
      if (code)
        await this.refused(code, kind, action, members);
      else
        await this.call(action, members);
    }
  }

  async a_send_wakes_a_long_poll() {
    const QueueUrl = await this.queue();
    const poll = this.call("ReceiveMessage", { QueueUrl, WaitTimeSeconds: 20 });
    // Something to do until it waits, most likely.
    for (let i = 0; i < 20; i++)
      await this.attributes(QueueUrl, "QueueArn");
    const started = performance.now();
    await this.call("SendMessage", { QueueUrl, MessageBody: "wake" });
    const { Messages } = await poll;
    assert.equal(Messages?.[0].Body, "wake");
    assert.ok(performance.now() - started < 15000, "woken after its time");
  }
}

/** sqs-consumer: polls by itself, deletes what was handled, returns what was not. */
class ConsumerScenarios extends Scenarios {
  constructor(name, opened, Consumer) {
    super(name, opened);
    this.sqs = opened.sqs;
    this.Consumer = Consumer;
  }

  /** Runs a consumer until `enough` messages were handled, and all were deleted. */
  async consume(queueUrl, enough, handle, more = {}) {
    const seen = [];
    let consumer;
    const done = new Promise((resolve, reject) => {
      consumer = this.Consumer.create({
        queueUrl, sqs: this.sqs, waitTimeSeconds: 5,
        handleMessage: async (message) => {
          seen.push(message);
          await handle?.(message, seen.length);
          return message;
        },
        ...more,
      });
      // A heartbeat may be on its way while the message is deleted.
      consumer.on("error", (error) => {
        if (!error.message.includes("not available for visibility timeout change"))
          reject(error);
      });
      consumer.on("processing_error", (error) => {
        if (!error.message.includes(REFUSED))
          reject(error);
      });
      consumer.on("message_processed", () => seen.length >= enough && resolve());
    });
    consumer.start();
    await done.then(() => this.emptied(queueUrl)).finally(
      () => consumer.stop({ abort: true }));
    return seen;
  }

  async left(QueueUrl) {
    const found = await this.attributes(QueueUrl, "ApproximateNumberOfMessages",
      "ApproximateNumberOfMessagesNotVisible");
    return Object.values(found).map(Number).reduce((a, b) => a + b);
  }

  /** Waits until the queue is empty: a consumer deletes after it has handled. */
  async emptied(QueueUrl) {
    const end = performance.now() + 30000;
    while ((await this.left(QueueUrl)) > 0)
      assert.ok(performance.now() < end, "messages are left");
  }

  async a_consumer_handles_and_deletes() {
    const QueueUrl = await this.queue();
    for (let i = 0; i < 3; i++)
      await this.call("SendMessage", { QueueUrl, MessageBody: `${i}` });
    const seen = await this.consume(QueueUrl, 3, null, { batchSize: 10 });
    assert.deepEqual(seen.map(({ Body }) => Body).sort(), ["0", "1", "2"]);
  }

  async a_consumer_is_woken_by_a_send() {
    const QueueUrl = await this.queue();
    const seen = this.consume(QueueUrl, 1, null, { waitTimeSeconds: 20 });
    for (let i = 0; i < 20; i++)
      await this.attributes(QueueUrl, "QueueArn");
    const started = performance.now();
    await this.call("SendMessage", { QueueUrl, MessageBody: "wake" });
    assert.equal((await seen)[0].Body, "wake");
    assert.ok(performance.now() - started < 15000, "woken after its time");
  }

  async a_consumer_returns_what_it_could_not_handle() {
    const QueueUrl = await this.queue();
    await this.call("SendMessage", { QueueUrl, MessageBody: "hard" });
    const seen = await this.consume(QueueUrl, 2, (message, count) => {
      if (count === 1)
        throw new Error(REFUSED);
    }, { terminateVisibilityTimeout: true, attributeNames: ["ApproximateReceiveCount"] });
    assert.deepEqual(seen.map(({ Attributes }) => Attributes.ApproximateReceiveCount),
      ["1", "2"]);
  }

  async a_consumer_extends_with_heartbeats() {
    const QueueUrl = await this.queue();
    await this.call("SendMessage", { QueueUrl, MessageBody: "long" });
    const seen = await this.consume(QueueUrl, 1, async () => {
      // Longer than the visibility timeout: without heartbeats it would come again.
      await this.call("ReceiveMessage", { QueueUrl, WaitTimeSeconds: 3 }).then(
        ({ Messages }) => assert.equal(Messages, undefined, "it came again"));
    }, { visibilityTimeout: 2, heartbeatInterval: 1 });
    assert.equal(seen.length, 1);
  }

  async a_consumer_of_a_fifo_queue_keeps_the_order() {
    const QueueUrl = await this.fifo({ ContentBasedDeduplication: "true" });
    for (let i = 0; i < 5; i++)
      await this.call("SendMessage", { QueueUrl, MessageBody: `${i}`, MessageGroupId: "g" });
    const seen = await this.consume(QueueUrl, 5, null,
      { suppressFifoWarning: true, attributeNames: ["MessageGroupId"] });
    assert.deepEqual(seen.map(({ Body }) => Body), ["0", "1", "2", "3", "4"]);
  }
}

const HELPERS = ["constructor", "queue", "fifo", "attributes", "receive", "refused",
  "consume", "left", "emptied"];

async function scenarios_of(name) {
  if (name === "current")
    return new Scenarios(name, await open("@aws-sdk/client-sqs"));
  if (name === "query")
    return new Scenarios(name, await open("client-sqs-3.300"));
  const { Consumer } = await import("sqs-consumer");
  return new ConsumerScenarios(name, await open("@aws-sdk/client-sqs"), Consumer);
}

const scenarios = await scenarios_of(process.argv[2]);
for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(scenarios))) {
  if (HELPERS.includes(name))
    continue;
  const shown = name.replaceAll("_", " ");
  try {
    await scenarios[name]();
    console.log(`ok - ${shown}`);
  } catch (error) {
    console.log(`not ok - ${shown}\n${error.stack ?? error}`);
  }
}
process.exit(0);
