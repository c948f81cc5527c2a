#include "profiler/feed/http.h"
#include "profiler/views/json_writer.h"

void http_fail(struct http_answer *a, unsigned status, const char *code, const char *what,
               const char *hint)
{
    http_bytes_release(a->body);
    *a = (struct http_answer){
        .status = status,
        .type = "application/json",
        .allow = a->allow,
        .retry_s = a->retry_s,
        .body = http_bytes_new(),
    };
    if (!a->body)
        return;
    struct text_sink out = http_bytes_sink(a->body);
    struct json_writer j = { .out = &out, .compact = true };
    json_write_object(&j, true);
    json_write_key(&j, "error");
    json_write_object(&j, true);
    json_member_string(&j, "code", code);
    json_member_string(&j, "what", what);
    json_member_string(&j, "hint", hint);
    json_write_end(&j);
    json_write_end(&j);
    http_bytes_add(a->body, "\n", 1);
}
