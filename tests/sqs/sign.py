# SPDX-License-Identifier: Apache-2.0
"""Signature version 4, as clients make it."""

import datetime
import hashlib
import hmac
import urllib.parse

ALGORITHM = "AWS4-HMAC-SHA256"


class Key:
    def __init__(self, access, secret, token=None):
        self.access = access
        self.secret = secret
        self.token = token


def stamp(seconds_from_now=0):
    now = datetime.datetime.now(datetime.timezone.utc)
    now += datetime.timedelta(seconds=seconds_from_now)
    return now.strftime("%Y%m%dT%H%M%SZ")


def _hmac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def _signature(key, when, scope, canonical):
    day, region, service, end = scope.split("/")
    secret = _hmac(("AWS4" + key.secret).encode(), day)
    for part in (region, service, end):
        secret = _hmac(secret, part)
    text = "\n".join([ALGORITHM, when, scope,
                      hashlib.sha256(canonical.encode()).hexdigest()])
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()


def _canonical(method, path, query, headers, names, body):
    pairs = sorted(
        (urllib.parse.quote(name, safe="-_.~"), urllib.parse.quote(value, safe="-_.~"))
        for name, value in urllib.parse.parse_qsl(query, keep_blank_values=True))
    lower = {name.lower(): " ".join(value.split()) for name, value in headers.items()}
    return "\n".join([
        method, urllib.parse.quote(path, safe="/-_.~"),
        "&".join("%s=%s" % pair for pair in pairs),
        "".join("%s:%s\n" % (name, lower[name]) for name in names),
        ";".join(names), hashlib.sha256(body).hexdigest()])


def header(key, method, path, query, headers, body, region="us-east-1",
           service="sqs", when=None, leave_out=()):
    """The headers that sign a request: those given and some more."""
    when = when or stamp()
    headers = dict(headers, **{"X-Amz-Date": when})
    if key.token:
        headers["X-Amz-Security-Token"] = key.token
    names = sorted(name.lower() for name in headers
                   if name.lower() in ("host", "content-type") or
                   name.lower().startswith("x-amz"))
    names = [name for name in names if name not in leave_out]
    scope = "/".join([when[:8], region, service, "aws4_request"])
    signature = _signature(key, when, scope,
                           _canonical(method, path, query, headers, names, body))
    headers["Authorization"] = "%s Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (
        ALGORITHM, key.access, scope, ";".join(names), signature)
    return headers


def query(key, method, path, query_text, host, body=b"", region="us-east-1",
          when=None, expires=300):
    """The query string that signs a request by itself."""
    when = when or stamp()
    scope = "/".join([when[:8], region, "sqs", "aws4_request"])
    more = [("X-Amz-Algorithm", ALGORITHM),
            ("X-Amz-Credential", "%s/%s" % (key.access, scope)),
            ("X-Amz-Date", when), ("X-Amz-Expires", str(expires)),
            ("X-Amz-SignedHeaders", "host")]
    if key.token:
        more.append(("X-Amz-Security-Token", key.token))
    query_text = "&".join(part for part in (
        query_text, urllib.parse.urlencode(more)) if part)
    canonical = _canonical(method, path, query_text, {"Host": host}, ["host"], body)
    return query_text + "&X-Amz-Signature=" + _signature(key, when, scope, canonical)
