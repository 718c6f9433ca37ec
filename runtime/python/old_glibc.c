/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the C library under their older versions, so that the wheel's libqrt asks for no glibc later than 2.28, whichever
 * it is linked with. wheel.cmake's link says --wrap of each; a script looks at the result (third_party/glibc_versions.py). */
#include <pthread.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define QRT_BASE "GLIBC_2.2.5"
#define QRT_STAT_VERSION 1
#elif defined(__aarch64__)
#define QRT_BASE "GLIBC_2.17"
#define QRT_STAT_VERSION 0
#endif

#ifdef QRT_BASE
/* The name under which glibc had a function at first; 2.34 gave those of libpthread new ones, and 2.33 made fstat() one. */
#define QRT_OLD(name) __asm__(".symver qrt_old_" #name "," #name "@" QRT_BASE)
QRT_OLD(pthread_create);
QRT_OLD(pthread_join);
QRT_OLD(__fxstat);

int qrt_old_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                           void* (*start)(void*), void* argument);
int qrt_old_pthread_join(pthread_t thread, void** result);
int qrt_old___fxstat(int version, int fd, struct stat* info);

int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          void* (*start)(void*), void* argument);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          void* (*start)(void*), void* argument) {
  return qrt_old_pthread_create(thread, attributes, start, argument);
}

int __wrap_pthread_join(pthread_t thread, void** result);
int __wrap_pthread_join(pthread_t thread, void** result) {
  return qrt_old_pthread_join(thread, result);
}

int __wrap_fstat(int fd, struct stat* info);
int __wrap_fstat(int fd, struct stat* info) { return qrt_old___fxstat(QRT_STAT_VERSION, fd, info); }

/* The C++ library's shared pointers read this variable of glibc 2.32 to count without atomics. 0: there may always be threads. */
char __libc_single_threaded = 0;
#else
#error "which versions had glibc's functions at first?"
#endif
