/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tests/faults/faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- which call fails ---- */

enum Kind {
#define QRT_FAULT(name, error, changes_files) k_##name,
#include "tests/faults/kinds.h"
#undef QRT_FAULT
  kKinds,
  kAnyFile = kKinds,
  kNone
};

static const struct {
  const char* name;
  int error;
  int changes_files;
} kinds[kKinds] = {
#define QRT_FAULT(name, error, changes_files) {#name, error, changes_files},
#include "tests/faults/kinds.h"
#undef QRT_FAULT
};

enum Mode { kOnce, kOn, kShort, kCut };

static struct {
  int kind;
  long at;
  enum Mode mode;
} fault = {kNone, 0, kOnce};

static atomic_int counting;
static atomic_long calls[kKinds + 1]; /* the last: kAnyFile */
static atomic_long live_blocks;
static int log_file = -1;

enum { kMostFiles = 1024 };
static char unsynced[kMostFiles]; /* descriptors written to since their last fsync */

/* The C library's own function, looked up when first used. */
#define REAL(name)                                                \
  ({                                                              \
    static __typeof__(&name) real;                                \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    real;                                                         \
  })

static ssize_t real_write(int fd, const void* data, size_t bytes) {
  return REAL(write)(fd, data, bytes);
}

static void note(enum Kind kind, const char* what) {
  if (log_file < 0 || what == NULL) return;
  char line[2 * 4096];
  const int n = snprintf(line, sizeof line, "%s %s\n", kinds[kind].name, what);
  if (n > 0) real_write(log_file, line, (size_t)n);
}

static void cut_power(void) {
  for (int fd = 3; fd < kMostFiles; ++fd)
    if (unsynced[fd] && ftruncate(fd, 0) != 0) break;
  _exit(kPowerCut);
}

/* Counts a call. Not 0 where it is one to fail, or, kShort, to do half its work. `what`: for the log. */
static int is_faulty(enum Kind kind, const char* what) {
  if (!counting) return 0;
  note(kind, what);
  long n = calls[kind]++;
  if (kinds[kind].changes_files) {
    const long of_all = calls[kAnyFile]++;
    if (fault.kind == kAnyFile) n = of_all;
  }
  const int concerns =
      fault.kind == (int)kind || (fault.kind == kAnyFile && kinds[kind].changes_files);
  if (!concerns || n < fault.at || (n > fault.at && fault.mode != kOn && fault.mode != kShort))
    return 0;
  if (fault.mode == kCut && kind != k_write) cut_power();
  errno = kinds[kind].error;
  return 1;
}

/* Returns the name behind a descriptor, for the log. */
static const char* name_of(int fd, char name[4096]) {
  if (log_file < 0) return NULL;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, name, 4095);
  name[n < 0 ? 0 : n] = '\0';
  return name;
}

void faults_start(const char* text) {
  for (int i = 0; i <= kKinds; ++i) calls[i] = 0;
  fault.kind = kNone;
  char kind[16], mode[16];
  if (text != NULL && sscanf(text, "%15[^:]:%ld:%15s", kind, &fault.at, mode) == 3) {
    for (int i = 0; i < kKinds; ++i)
      if (strcmp(kind, kinds[i].name) == 0) fault.kind = i;
    if (strcmp(kind, "file") == 0) fault.kind = kAnyFile;
    fault.mode = mode[0] == 's'                      ? kShort
                 : mode[0] == 'c'                    ? kCut
                 : mode[1] == 'n' && mode[2] == '\0' ? kOn
                                                     : kOnce;
  }
  counting = 1;
}

void faults_stop(void) { counting = 0; }

long faults_count(const char* kind) {
  for (int i = 0; i < kKinds; ++i)
    if (strcmp(kind, kinds[i].name) == 0) return calls[i];
  return calls[kAnyFile];
}

long faults_live_blocks(void) { return live_blocks; }

/* ---- memory ---- */

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);

static void* counted(void* p) {
  if (p != NULL) ++live_blocks;
  return p;
}

void* malloc(size_t size) { return is_faulty(k_alloc, NULL) ? NULL : counted(__libc_malloc(size)); }
void* calloc(size_t n, size_t size) {
  return is_faulty(k_alloc, NULL) ? NULL : counted(__libc_calloc(n, size));
}
void* realloc(void* p, size_t size) {
  if (is_faulty(k_alloc, NULL)) return NULL;
  void* q = __libc_realloc(p, size);
  if (p == NULL) return counted(q);
  if (q == NULL && size == 0) --live_blocks;
  return q;
}
void* memalign(size_t alignment, size_t size) {
  return is_faulty(k_alloc, NULL) ? NULL : counted(__libc_memalign(alignment, size));
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** p, size_t alignment, size_t size) {
  void* q = memalign(alignment, size);
  if (q == NULL) return ENOMEM;
  *p = q;
  return 0;
}
void free(void* p) {
  if (p != NULL) --live_blocks;
  __libc_free(p);
}

void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  return is_faulty(k_map, NULL) ? MAP_FAILED : REAL(mmap)(at, size, protection, flags, fd, offset);
}

/* ---- threads ---- */

/* libcpuinfo reads /sys and ends the process where it can read only a part of it, which is not for
 * qrt to repair (SECURITY.md). */
extern bool cpuinfo_initialize(void);
bool cpuinfo_initialize(void) {
  const int was_counting = counting;
  counting = 0;
  const bool known = REAL(cpuinfo_initialize)();
  counting = was_counting;
  return known;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                   void* argument) {
  if (is_faulty(k_thread, NULL)) return EAGAIN;
  return REAL(pthread_create)(thread, attributes, routine, argument);
}

/* ---- files ---- */

static int opened(int fd) {
  if (fd >= 0 && fd < kMostFiles) unsynced[fd] = 0;
  return fd;
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return is_faulty(k_open, path) ? -1 : opened(REAL(open)(path, flags, mode));
}
int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return is_faulty(k_open, path) ? -1 : opened(REAL(openat)(folder, path, flags, mode));
}
extern int __openat_2(int folder, const char* path, int flags);
int __openat_2(int folder, const char* path, int flags) { return openat(folder, path, flags, 0); }
int mkostemp(char* path, int flags) {
  return is_faulty(k_open, path) ? -1 : opened(REAL(mkostemp)(path, flags));
}
int memfd_create(const char* name, unsigned flags) {
  return is_faulty(k_open, name) ? -1 : opened(REAL(memfd_create)(name, flags));
}
DIR* opendir(const char* path) { return is_faulty(k_open, path) ? NULL : REAL(opendir)(path); }

int stat(const char* restrict path, struct stat* restrict s) {
  return is_faulty(k_stat, path) ? -1 : REAL(stat)(path, s);
}
int lstat(const char* restrict path, struct stat* restrict s) {
  return is_faulty(k_stat, path) ? -1 : REAL(lstat)(path, s);
}
int fstat(int fd, struct stat* s) { return is_faulty(k_stat, "") ? -1 : REAL(fstat)(fd, s); }
int fstatat(int folder, const char* restrict path, struct stat* restrict s, int flags) {
  return is_faulty(k_stat, path) ? -1 : REAL(fstatat)(folder, path, s, flags);
}
int access(const char* path, int mode) {
  return is_faulty(k_stat, path) ? -1 : REAL(access)(path, mode);
}

/* Half, and at least one. */
static size_t half_of(size_t bytes) { return bytes / 2 + bytes % 2; }

ssize_t read(int fd, void* data, size_t bytes) {
  char name[4096];
  if (is_faulty(k_read, name_of(fd, name))) {
    if (fault.mode != kShort) return -1;
    bytes = half_of(bytes);
  }
  return REAL(read)(fd, data, bytes);
}
ssize_t pread(int fd, void* data, size_t bytes, off_t offset) {
  char name[4096];
  if (is_faulty(k_read, name_of(fd, name))) {
    if (fault.mode != kShort) return -1;
    bytes = half_of(bytes);
  }
  return REAL(pread)(fd, data, bytes, offset);
}
ssize_t write(int fd, const void* data, size_t bytes) {
  char name[4096];
  const int faulty = is_faulty(k_write, name_of(fd, name));
  if (faulty && fault.mode != kShort && fault.mode != kCut) return -1;
  const ssize_t n = real_write(fd, data, faulty ? half_of(bytes) : bytes);
  if (n > 0 && fd >= 0 && fd < kMostFiles) unsynced[fd] = 1;
  if (faulty && fault.mode == kCut) cut_power();
  return n;
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  ssize_t all = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t n = write(fd, parts[i].iov_base, parts[i].iov_len);
    if (n < 0) return all > 0 ? all : -1;
    all += n;
    if ((size_t)n < parts[i].iov_len) break;
  }
  return all;
}

int fsync(int fd) {
  char name[4096];
  if (is_faulty(k_sync, name_of(fd, name))) return -1;
  if (fd >= 0 && fd < kMostFiles) unsynced[fd] = 0;
  return 0; /* takes long, and no power is lost in truth */
}
int fchmod(int fd, mode_t mode) { return is_faulty(k_mode, "") ? -1 : REAL(fchmod)(fd, mode); }
int rename(const char* from, const char* to) {
  char both[2 * 4096];
  snprintf(both, sizeof both, "%s -> %s", from, to);
  return is_faulty(k_rename, both) ? -1 : REAL(rename)(from, to);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  char both[2 * 4096];
  snprintf(both, sizeof both, "%s -> %s", from, to);
  return is_faulty(k_rename, both) ? -1 : REAL(linkat)(from_folder, from, to_folder, to, flags);
}
int mkdir(const char* path, mode_t mode) {
  return is_faulty(k_mkdir, path) ? -1 : REAL(mkdir)(path, mode);
}

/* ---- streams: the C library's own would read and write by themselves, unseen ---- */

static ssize_t read_stream(void* fd, char* data, size_t bytes) {
  return read((int)(intptr_t)fd, data, bytes);
}
static ssize_t write_stream(void* fd, const char* data, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n = write((int)(intptr_t)fd, data + done, bytes - done);
    if (n < 0) return 0; /* an error, to a stream */
    done += (size_t)n;
  }
  return (ssize_t)done;
}
static int seek_stream(void* fd, off64_t* offset, int whence) {
  *offset = lseek((int)(intptr_t)fd, *offset, whence);
  return *offset < 0 ? -1 : 0;
}
/* The descriptors of streams, by the stream; fileno() knows none of them. */
static struct {
  FILE* stream;
  int fd;
} streams[kMostFiles];

static int close_stream(void* fd) {
  for (int i = 0; i < kMostFiles; ++i)
    if (streams[i].stream != NULL && streams[i].fd == (int)(intptr_t)fd) streams[i].stream = NULL;
  return close((int)(intptr_t)fd);
}

static FILE* stream_of(int fd, const char* mode) {
  const cookie_io_functions_t functions = {read_stream, write_stream, seek_stream, close_stream};
  FILE* stream = fopencookie((void*)(intptr_t)fd, mode, functions);
  if (stream == NULL) {
    close(fd);
    return NULL;
  }
  for (int i = 0; i < kMostFiles; ++i) {
    if (streams[i].stream != NULL) continue;
    streams[i].stream = stream;
    streams[i].fd = fd;
    break;
  }
  return stream;
}

int fileno(FILE* stream) {
  for (int i = 0; i < kMostFiles; ++i)
    if (streams[i].stream == stream) return streams[i].fd;
  return REAL(fileno)(stream);
}

static int flags_of(const char* mode) {
  if (mode[0] == 'r') return strchr(mode, '+') ? O_RDWR : O_RDONLY;
  return O_WRONLY | O_CREAT | (mode[0] == 'a' ? O_APPEND : O_TRUNC);
}

FILE* fopen(const char* restrict path, const char* restrict mode) {
  const int fd = open(path, flags_of(mode), 0666);
  return fd < 0 ? NULL : stream_of(fd, mode);
}
/* libstdc++'s: it reads and writes the descriptor itself. */
FILE* fopen64(const char* restrict path, const char* restrict mode) {
  const int fd = open(path, flags_of(mode), 0666);
  return fd < 0 ? NULL : fdopen(fd, mode);
}
FILE* tmpfile(void) {
  const int fd = open("/tmp", O_RDWR | O_TMPFILE, 0600);
  return fd < 0 ? NULL : stream_of(fd, "w+");
}

/* ---- programs under LD_PRELOAD ---- */

typedef int Main(int, char**, char**);
static Main* real_main;

static int main_with_faults(int argc, char** argv, char** environment) {
  const char* name = getenv("QRT_FAULT_LOG");
  if (name != NULL) log_file = REAL(open)(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  stdin = stream_of(STDIN_FILENO, "r");
  stdout = stream_of(STDOUT_FILENO, "w");
  faults_start(getenv("QRT_FAULT"));
  const int status = real_main(argc, argv, environment);
  faults_stop();
  if (log_file >= 0) {
    for (int i = 0; i < kKinds; ++i)
      dprintf(log_file, "calls %s %ld\n", kinds[i].name, (long)calls[i]);
    dprintf(log_file, "calls file %ld\n", (long)calls[kAnyFile]);
  }
  return status;
}

int __libc_start_main(Main* main, int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void* stack_end) {
  int (*start)(Main*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      (__typeof__(start))dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return start(getenv("QRT_FAULT_LOG") || getenv("QRT_FAULT") ? main_with_faults : main, argc, argv,
               init, fini, loader_fini, stack_end);
}
