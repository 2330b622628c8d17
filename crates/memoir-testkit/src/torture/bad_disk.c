/* Simulates a faulty disk in tests. Load it with LD_PRELOAD; it intercepts the program's file system calls.

   BAD_DISK_UNDER  directory whose files are on the faulty disk
   BAD_DISK_ERROR  errno that writes and other changes fail with; by default, none fail. With ENOSPC, only changes that
                   need space fail: existing files can still be opened, renamed, truncated and deleted
   BAD_DISK_AFTER  number of changes that succeed before the first failure
   BAD_DISK_LASTS  number of changes that fail; later changes succeed
   BAD_DISK_SYNC   maximum delay of a sync in microseconds; each delay is random
   BAD_DISK_SEED   seed of these delays */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static const char *faulty_directory;
static size_t faulty_directory_length;
static long error, successes, failures, max_sync_delay;
static atomic_long changes;
static atomic_ulong random_state;

static long read_number(const char *name) {
    const char *value = getenv(name);
    return value ? atol(value) : 0;
}

__attribute__((constructor)) static void read_settings(void) {
    faulty_directory = getenv("BAD_DISK_UNDER");
    faulty_directory_length = faulty_directory ? strlen(faulty_directory) : 0;
    error = read_number("BAD_DISK_ERROR");
    successes = read_number("BAD_DISK_AFTER");
    failures = read_number("BAD_DISK_LASTS");
    max_sync_delay = read_number("BAD_DISK_SYNC");
    random_state = (unsigned long)read_number("BAD_DISK_SEED") * 0x9e3779b97f4a7c15UL | 1;
}

static int is_here(const char *path) {
    return faulty_directory && path && strncmp(path, faulty_directory, faulty_directory_length) == 0;
}

static int is_open_here(int file) {
    char link[32], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_here(path);
}

/* Whether a change needs space and so fails on a full disk. */
enum space { NEEDS_SPACE, NEEDS_NO_SPACE };

/* Returns whether a change fails, and sets errno if it does. `here` is whether the file is on the faulty disk. */
static int fails(int here, enum space space) {
    if (!here || !error || (error == ENOSPC && space == NEEDS_NO_SPACE)) return 0;
    long change = atomic_fetch_add(&changes, 1);
    if (change < successes || change - successes >= failures) return 0;
    errno = (int)error;
    return 1;
}

static void delay_sync(int file) {
    if (!max_sync_delay || !is_open_here(file)) return;
    unsigned long bits = atomic_fetch_add(&random_state, 0x9e3779b97f4a7c15UL);
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9UL;
    usleep((useconds_t)((bits ^ (bits >> 27)) % (unsigned long)max_sync_delay));
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CHANGES(flags) ((flags) & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))

static int path_exists(int directory, const char *path) {
    int saved_errno = errno;
    int exists = faccessat(directory, path, F_OK, 0) == 0;
    errno = saved_errno;
    return exists;
}

/* Creating a file needs space in its directory. */
static enum space space_for_open(int directory, const char *path, int flags) {
    return (flags & O_CREAT) && !path_exists(directory, path) ? NEEDS_SPACE : NEEDS_NO_SPACE;
}

/* Growing a file needs space. */
static enum space space_for_length(int file, off64_t length) {
    struct stat status;
    return fstat(file, &status) == 0 && length <= status.st_size ? NEEDS_NO_SPACE : NEEDS_SPACE;
}

#define OPEN(name)                                                                          \
    int name(const char *path, int flags, ...) {                                            \
        va_list rest;                                                                       \
        va_start(rest, flags);                                                              \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;             \
        va_end(rest);                                                                       \
        return CHANGES(flags) && fails(is_here(path), space_for_open(AT_FDCWD, path, flags)) \
                   ? -1                                                                     \
                   : REAL(name)(path, flags, mode);                                         \
    }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                                                       \
    int name(int directory, const char *path, int flags, ...) {                             \
        va_list rest;                                                                       \
        va_start(rest, flags);                                                              \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;             \
        va_end(rest);                                                                       \
        return CHANGES(flags) && fails(is_here(path), space_for_open(directory, path, flags)) \
                   ? -1                                                                     \
                   : REAL(name)(directory, path, flags, mode);                              \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

ssize_t write(int file, const void *from, size_t length) {
    return fails(is_open_here(file), NEEDS_SPACE) ? -1 : REAL(write)(file, from, length);
}

#define PWRITE(name, offset_type)                                                           \
    ssize_t name(int file, const void *from, size_t length, offset_type offset) {           \
        return fails(is_open_here(file), NEEDS_SPACE) ? -1 : REAL(name)(file, from, length, offset); \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define TRUNCATE(name, offset_type)                                                         \
    int name(int file, offset_type length) {                                                \
        return fails(is_open_here(file), space_for_length(file, length))                    \
                   ? -1                                                                     \
                   : REAL(name)(file, length);                                              \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define SYNC(name)                                                                          \
    int name(int file) {                                                                    \
        delay_sync(file);                                                                   \
        return fails(is_open_here(file), NEEDS_SPACE) ? -1 : REAL(name)(file);              \
    }
SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to) {
    return fails(is_here(from) || is_here(to), NEEDS_NO_SPACE) ? -1 : REAL(rename)(from, to);
}

/* A hard link needs space in its directory. A missing source is reported before anything is written, so it does not
   count as a change. Rust's standard library never calls link. */
int linkat(int from_directory, const char *from, int to_directory, const char *to, int flags) {
    int here = (is_here(from) || is_here(to)) && path_exists(from_directory, from);
    return fails(here, NEEDS_SPACE) ? -1 : REAL(linkat)(from_directory, from, to_directory, to, flags);
}

int unlink(const char *path) {
    return fails(is_here(path), NEEDS_NO_SPACE) ? -1 : REAL(unlink)(path);
}

int mkdir(const char *path, mode_t mode) {
    return fails(is_here(path), NEEDS_SPACE) ? -1 : REAL(mkdir)(path, mode);
}
