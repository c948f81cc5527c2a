#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/feed/http_api.h"
#include "profiler/page/page.h"

static const struct {
    const char *suffix, *type;
} types[] = {
    { ".html", "text/html; charset=utf-8" }, { ".js", "text/javascript; charset=utf-8" },
    { ".css", "text/css; charset=utf-8" },   { ".svg", "image/svg+xml" },
    { "", "text/plain; charset=utf-8" },
};

static const char *type_of(const char *name)
{
    size_t i = 0;
    while (*types[i].suffix &&
           (strlen(name) < strlen(types[i].suffix) ||
            strcmp(name + strlen(name) - strlen(types[i].suffix), types[i].suffix) != 0))
        i++;
    return types[i].type;
}

/* Letters, digits, '-', '_', single dots between them, and folders: nothing leads out. */
static bool is_plain(const char *name)
{
    for (const char *c = name; *c; c++) {
        bool word = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *c);
        if (!word && (c == name || !strchr("./", *c) || strchr("./", c[-1])))
            return false;
    }
    return *name != 0;
}

static struct http_bytes *read_all(int fd)
{
    struct http_bytes *b = http_bytes_new();
    char buf[16384];
    ssize_t n = 0;
    while (b && (n = read(fd, buf, sizeof buf)) > 0)
        http_bytes_add(b, buf, (size_t)n);
    if (n == 0)
        return b;
    http_bytes_release(b);
    return NULL;
}

/* For developers of the page: the file as it is on disk now. */
static bool from_folder(const char *folder, const char *name, struct http_answer *a)
{
    char path[1200];
    struct stat st;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (is_file)
        a->body = read_all(fd);
    else
        a->body = NULL;
    a->type = type_of(name);
    a->cache = "no-cache";
    close(fd);
    return a->body != NULL;
}

static bool from_program(const char *name, const struct http_request *r, struct http_answer *a)
{
    const struct page_file *f = page_find(name);
    if (!f)
        return false;
    snprintf(a->etag, sizeof a->etag, "%s", f->etag);
    a->type = f->type;
    a->cache = "no-cache";
    if (r->if_none_match && strcmp(r->if_none_match, f->etag) == 0) {
        a->status = 304;
        return true;
    }
    a->fixed = f->bytes;
    a->fixed_size = f->size;
    return true;
}

void http_static(const struct http_api_config *cfg, const struct http_request *r,
                 struct http_answer *a)
{
    static const char assets[] = "/assets/";
    const char *name = text_if(strcmp(r->path, "/") == 0, "index.html");
    if (strncmp(r->path, assets, strlen(assets)) == 0)
        name = r->path + strlen(assets);
    if (is_plain(name) && (cfg->page ? from_folder(cfg->page, name, a) : from_program(name, r, a)))
        return;
    http_fail(a, 404, "path", "there is nothing at this path", "docs/feed.md lists what there is");
}
