/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sqs.h"
#include <cctype>
#include <cstdio>

namespace bench
{

namespace
{

std::string
host_of(int port)
{
    return "127.0.0.1:" + std::to_string(port);
}

std::string
post(const std::string &path, const std::string &host,
     const std::string &fields, const std::string &body)
{
    return "POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + fields +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string
between(std::string_view text, std::string_view before, std::string_view after)
{
    std::size_t start = text.find(before);

    if (start == std::string_view::npos)
        return "";
    start += before.size();
    return std::string(text.substr(start, text.find(after, start) - start));
}

std::string
percent_encode(std::string_view text)
{
    std::string out;
    char code[4];

    for (char c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '-') {
            out += c;
        } else {
            std::snprintf(code, sizeof(code), "%%%02X", unsigned(c) & 0xffU);
            out += code;
        }
    return out;
}

} // namespace

/* ---- JSON ---- */

JsonSqs::JsonSqs(int port) : host(host_of(port))
{
}

std::string
JsonSqs::request(const char *action, const std::string &text) const
{
    return post("/", host,
                "Content-Type: application/x-amz-json-1.0\r\n"
                "X-Amz-Target: AmazonSQS." +
                    std::string(action) + "\r\n",
                text);
}

std::string
JsonSqs::url(const std::string &queue) const
{
    return R"({"QueueUrl":"http://)" + host + "/000000000000/" + queue + '"';
}

std::string
JsonSqs::create(const std::string &queue) const
{
    return request("CreateQueue", R"({"QueueName":")" + queue + R"("})");
}

std::string
JsonSqs::send(const std::string &queue, const std::string &body) const
{
    return request("SendMessage",
                   url(queue) + R"(,"MessageBody":")" + body + R"("})");
}

std::string
JsonSqs::send_batch(const std::string &queue, const std::string &body) const
{
    std::string text = url(queue) + R"(,"Entries":[)";

    for (int i = 0; i < 10; i++)
        text += std::string(i > 0 ? "," : "") + R"({"Id":")" +
                std::to_string(i) + R"(","MessageBody":")" + body + R"("})";
    return request("SendMessageBatch", text + "]}");
}

std::string
JsonSqs::receive(const std::string &queue) const
{
    return request("ReceiveMessage", url(queue) + "}");
}

std::string
JsonSqs::receive_waiting(const std::string &queue, int seconds) const
{
    return request("ReceiveMessage", url(queue) + R"(,"WaitTimeSeconds":)" +
                                         std::to_string(seconds) + "}");
}

std::string
JsonSqs::remove(const std::string &queue, std::string_view receipt) const
{
    return request("DeleteMessage", url(queue) + R"(,"ReceiptHandle":")" +
                                        std::string(receipt) + R"("})");
}

std::string
JsonSqs::receipt_of(std::string_view answer) const
{
    return between(answer, R"("ReceiptHandle":")", "\"");
}

/* ---- Query ---- */

QuerySqs::QuerySqs(int port) : host(host_of(port))
{
}

std::string
QuerySqs::request(const std::string &path, const std::string &form) const
{
    return post(path, host,
                "Content-Type: application/x-www-form-urlencoded\r\n", form);
}

std::string
QuerySqs::create(const std::string &queue) const
{
    return request("/", "Action=CreateQueue&QueueName=" + queue);
}

std::string
QuerySqs::send(const std::string &queue, const std::string &body) const
{
    return request("/queue/" + queue,
                   "Action=SendMessage&MessageBody=" + percent_encode(body));
}

std::string
QuerySqs::receive(const std::string &queue) const
{
    return request("/queue/" + queue, "Action=ReceiveMessage");
}

std::string
QuerySqs::remove(const std::string &queue, std::string_view receipt) const
{
    return request("/queue/" + queue, "Action=DeleteMessage&ReceiptHandle=" +
                                          percent_encode(receipt));
}

std::string
QuerySqs::receipt_of(std::string_view answer) const
{
    return between(answer, "<ReceiptHandle>", "</ReceiptHandle>");
}

} // namespace bench
