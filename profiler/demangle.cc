// The C++ runtime's demangler behind a C name: the one file of this layer that is not C.
#include <cxxabi.h>

extern "C" char *symbol_demangle(const char *name)
{
    if (name[0] != '_' || name[1] != 'Z')
        return nullptr; // __cxa_demangle would take "i" for a type
    int status = 0;
    return abi::__cxa_demangle(name, nullptr, nullptr, &status);
}
