// SPDX-License-Identifier: Apache-2.0
// Exceptions in WebAssembly without its exception handling, for which Debian's libc++ is not built: the
// compiler leaves out what would catch them, and what throws one ends the program here. In libqrt that is
// std::bad_alloc alone; the module's host reports its trap as a lack of memory.
#include <stddef.h>
#include <stdlib.h>

extern "C" {

void* __cxa_allocate_exception(size_t) noexcept { abort(); }
void __cxa_free_exception(void*) noexcept { abort(); }
void __cxa_throw(void*, void*, void (*)(void*)) { abort(); }
void __cxa_rethrow() { abort(); }
void* __cxa_begin_catch(void*) noexcept { abort(); }
void __cxa_end_catch() { abort(); }
void* __cxa_get_exception_ptr(void*) noexcept { abort(); }

}  // extern "C"
