# SPDX-License-Identifier: Apache-2.0
"""I, case 109. Signatures: a server with keys lets nothing else in."""

import hashlib
import os
import tempfile
import threading

import sign
from harness import only
from wire import CLIENTS, VERSION

GOOD = sign.Key("AKIDGOOD", "good/secret+1")
OTHER = sign.Key("AKIDOTHER", "other-secret")
TEMPORARY = sign.Key("ASIATEMP", "temporary-secret", "a-session-token")
KEYS = """# access secret account token
AKIDGOOD good/secret+1
AKIDOTHER other-secret 222222222222
ASIATEMP temporary-secret 000000000000 a-session-token
"""

DENIED = 403
_lock = threading.Lock()
_file = []


def keys_file():
    """Its secrets are for its owner only; it is removed with the process."""
    with _lock:
        if not _file:
            folder = tempfile.TemporaryDirectory(prefix="letterbox-keys-")
            path = os.path.join(folder.name, "keys")
            with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as out:
                out.write(KEYS)
            _file.extend([path, folder])
        return _file[0]


def guarded(sqs, key=GOOD):
    """The same at a server that wants signatures."""
    other = sqs.special("--keys", keys_file())
    return other.with_client(CLIENTS[sqs.protocol](other.server, key))


def signed(sqs, action="ListQueues", change=None, key=GOOD, region="us-east-1",
           service="sqs", when=None, leave_out=(), **members):
    """A request that `change` may spoil after it was signed."""
    method, query, headers, body = sqs.client.encode(action, members)
    headers = dict(headers, Host="%s:%d" % (sqs.server.host, sqs.server.port))
    headers = sign.header(key, method, "/", query, headers, body, region, service, when,
                          leave_out)
    if change:
        headers, body = change(headers, body)
    reply = sqs.client.endpoint.request(method, "/", headers, body)
    sqs.client.decode(action, reply)
    return reply


def denied(sqs, reply, what, *codes, status=DENIED):
    error = reply.error
    sqs.expect((status, True), (reply.status, error is not None and error.code in codes),
               "%s: wanted %s, got %s" % (what, codes, reply))


def i109_a_good_signature(sqs):
    sqs = guarded(sqs)
    url = sqs.queue()
    sqs.send(url, "signed \u00e9 &=+%20")
    sqs.expect("signed \u00e9 &=+%20", sqs.one(url)["Body"], "received")
    later = signed(sqs, when=sign.stamp(-14 * 60))
    sqs.expect(200, later.status, "14 minutes old")


def i109b_no_signature(sqs):
    sqs = guarded(sqs)
    reply = CLIENTS[sqs.protocol](sqs.server).call("ListQueues")
    denied(sqs, reply, "unsigned", "MissingAuthenticationToken")


def i109c_a_wrong_secret_and_an_unknown_key(sqs):
    sqs = guarded(sqs)
    denied(sqs, signed(sqs, key=sign.Key(GOOD.access, "wrong")), "a wrong secret",
           "SignatureDoesNotMatch")
    denied(sqs, signed(sqs, key=sign.Key("AKIDNOT", "wrong")), "an unknown key",
           "InvalidClientTokenId")


def i109d_the_clock(sqs):
    sqs = guarded(sqs)
    for minutes in (-16, 16):
        reply = signed(sqs, when=sign.stamp(minutes * 60))
        error = reply.error
        sqs.true(reply.status in (400, 403) and error and error.code in (
            "RequestExpired", "SignatureDoesNotMatch", "InvalidSignature"),
            "%d minutes: %s", minutes, reply)


def i109e_a_wrong_scope(sqs):
    sqs = guarded(sqs)
    denied(sqs, signed(sqs, service="sns"), "another service", "SignatureDoesNotMatch")

    def day(headers, body):
        scope = headers["Authorization"]
        return dict(headers, Authorization=scope.replace(
            "/" + headers["X-Amz-Date"][:8] + "/", "/20200101/")), body

    denied(sqs, signed(sqs, change=day), "another day", "SignatureDoesNotMatch")


def i109f_what_was_changed(sqs):
    sqs = guarded(sqs)

    def body(headers, text):
        return headers, text + (b" " if sqs.protocol == "json" else b"&a=b")

    def signature(headers, text):
        end = headers["Authorization"]
        end = end[:-1] + ("0" if end[-1] != "0" else "1")
        return dict(headers, Authorization=end), text

    def date(headers, text):
        return dict(headers, **{"X-Amz-Date": sign.stamp(5)}), text

    def upper(headers, text):
        start, _, end = headers["Authorization"].rpartition("=")
        return dict(headers, Authorization=start + "=" + end.upper() + "A"), text

    def extra(headers, text):
        return dict(headers, **{"X-Amz-Extra": "not signed"}), text

    for change in (body, signature, date, upper, extra):
        denied(sqs, signed(sqs, change=change), change.__name__, "SignatureDoesNotMatch")
    denied(sqs, signed(sqs, leave_out=("host",)), "host is not signed",
           "SignatureDoesNotMatch")


def i109g_half_a_signature(sqs):
    sqs = guarded(sqs)
    for part in ("Credential=", "SignedHeaders=", "Signature="):
        def change(headers, body):
            return dict(headers, Authorization=headers["Authorization"].replace(
                part, "X" + part)), body
        denied(sqs, signed(sqs, change=change), "without " + part,
               "IncompleteSignature", status=400)


def i109h_the_hash_of_the_body(sqs):
    sqs = guarded(sqs)
    method, query, headers, body = sqs.client.encode("ListQueues", {})
    headers["Host"] = "%s:%d" % (sqs.server.host, sqs.server.port)

    def attempt(value):
        given = dict(headers, **{"X-Amz-Content-Sha256": value})
        given = sign.header(GOOD, method, "/", query, given, body)
        reply = sqs.client.endpoint.request(method, "/", given, body)
        sqs.client.decode("ListQueues", reply)
        return reply

    sqs.expect(200, attempt(hashlib.sha256(body).hexdigest()).status, "its hash")
    for value in ("UNSIGNED-PAYLOAD", hashlib.sha256(b"other").hexdigest(),
                  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"):
        reply = attempt(value)
        sqs.true(reply.status in (400, 403), "%s: %s", value, reply)


def i109i_session_tokens(sqs):
    sqs = guarded(sqs)
    sqs.expect(200, signed(sqs, key=TEMPORARY).status, "with its token")
    for what, key in (
            ("without its token", sign.Key(TEMPORARY.access, TEMPORARY.secret)),
            ("another token", sign.Key(TEMPORARY.access, TEMPORARY.secret, "not-it")),
            ("a token that has no business", sign.Key(GOOD.access, GOOD.secret, "t"))):
        denied(sqs, signed(sqs, key=key), what, "InvalidClientTokenId",
               "SignatureDoesNotMatch", "AccessDenied")


def i109j_accounts_are_separate(sqs):
    mine, theirs = guarded(sqs), guarded(sqs, OTHER)
    url = mine.queue()
    name = url.split("/")[-1]
    theirs.no_queue("GetQueueUrl", QueueName=name)
    reply = theirs.call("SendMessage", QueueUrl=url, MessageBody="x")
    sqs.true(reply.status in (400, 403) and reply.error.code in (
        "AWS.SimpleQueueService.NonExistentQueue", "AccessDenied"),
        "another account's queue: %s", reply)
    own = theirs.create(name)
    sqs.expect("222222222222", own.split("/")[-2], "its own account")
    sqs.expect((0, 0, 0), mine.counts(url), "nothing was sent")


@only("query")
def i109k_signed_in_the_query_string(sqs):
    sqs = guarded(sqs)
    url = sqs.queue()
    host = "%s:%d" % (sqs.server.host, sqs.server.port)
    text = "Action=SendMessage&Version=%s&MessageBody=a%%20b" % VERSION
    path = url[len(sqs.server.url):]

    def get(query):
        reply = sqs.client.endpoint.request("GET", path + "?" + query, {}, b"")
        sqs.client.decode("SendMessage", reply)
        return reply

    good = sign.query(GOOD, "GET", path, text, host)
    sqs.expect(200, get(good).status, "good")
    sqs.expect("a b", sqs.one(url)["Body"], "received")
    denied(sqs, get(good.replace("a%20b", "a%20c")), "changed", "SignatureDoesNotMatch")
    denied(sqs, get(sign.query(sign.Key(GOOD.access, "wrong"), "GET", path, text, host)),
           "a wrong secret", "SignatureDoesNotMatch")
    old = get(sign.query(GOOD, "GET", path, text, host, when=sign.stamp(-3600)))
    sqs.true(old.status in (400, 403), "an hour old: %s", old)
    sqs.expect((0, 1, 0), sqs.counts(url), "nothing more was sent")
