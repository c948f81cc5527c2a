#include <dlfcn.h>
#include <stdio.h>

#include "probe/base/util.h"
#include "probe/pdo_sigrok.h"

struct call {
    const char *name;
    size_t at;
};
#define CALL_ROW(name) { #name, offsetof(struct sigrok_api, name) },
static const struct call calls[] = { SIGROK_CALLS(CALL_ROW) };

/* Through a union: C has no conversion from an object's address to a function's, POSIX promises
 * that it works. */
static bool take_call(void *library, const struct call *c, struct sigrok_api *out)
{
    union {
        void *object;
        void (*function)(void);
    } u = { .object = dlsym(library, c->name) };
    *(void (**)(void))((char *)out + c->at) = u.function;
    return u.object;
}

int sigrok_load(struct sigrok_api *out, struct err *err)
{
    char file[32], hint[96];
    int version = SR_LIB_VERSION_CURRENT - SR_LIB_VERSION_AGE;
    snprintf(file, sizeof file, "libsigrok.so.%d", version);
    snprintf(hint, sizeof hint, "install it: package libsigrok%d", version);
    void *library = dlopen(file, RTLD_NOW | RTLD_NODELETE);
    if (!library)
        return err_set(err, ERR_UNSUPPORTED, hint, "sigrok: libsigrok cannot be loaded: %s",
                       dlerror());
    bool all = true;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        all &= take_call(library, &calls[i], out); /* GLib's functions are found, too: dlsym looks
                                                      through what libsigrok is linked with */
    dlclose(library);
    if (all)
        return 0;
    return err_set(err, ERR_UNSUPPORTED, hint,
                   "sigrok: %s lacks functions that this program was compiled for", file);
}
