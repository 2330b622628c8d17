/* A disk that goes wrong, for tests. Preloaded, it stands between a program and its files.

   BAD_DISK_UNDER  the folder whose files are on it
   BAD_DISK_ERROR  the number of the error that changes of them end with; none by default. A full disk (ENOSPC) fails
                   only what takes room: existing files are opened, renamed, shortened and removed there
   BAD_DISK_AFTER  so many changes go well before the first that does not
   BAD_DISK_LASTS  so many do not, and then all go well again
   BAD_DISK_SYNC   microseconds that a sync takes at most, by chance
   BAD_DISK_SEED   of that chance */
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

static const char *under;
static size_t under_length;
static long error, after, lasts, longest_sync;
static atomic_long changes;
static atomic_ulong chance;

static long number(const char *name) {
    const char *value = getenv(name);
    return value ? atol(value) : 0;
}

__attribute__((constructor)) static void begin(void) {
    under = getenv("BAD_DISK_UNDER");
    under_length = under ? strlen(under) : 0;
    error = number("BAD_DISK_ERROR");
    after = number("BAD_DISK_AFTER");
    lasts = number("BAD_DISK_LASTS");
    longest_sync = number("BAD_DISK_SYNC");
    chance = (unsigned long)number("BAD_DISK_SEED") * 0x9e3779b97f4a7c15UL | 1;
}

static int is_here(const char *path) {
    return under && path && strncmp(path, under, under_length) == 0;
}

static int is_open_here(int file) {
    char link[32], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_here(path);
}

/* Whether a change takes room, or may find the disk too full to be kept. */
enum room { TAKES_ROOM, TAKES_NONE };

/* Whether a change of something here goes wrong. */
static int fails(int here, enum room room) {
    if (!here || !error || (error == ENOSPC && room == TAKES_NONE)) return 0;
    long change = atomic_fetch_add(&changes, 1);
    if (change < after || change - after >= lasts) return 0;
    errno = (int)error;
    return 1;
}

static void wait_for_sync(int file) {
    if (!longest_sync || !is_open_here(file)) return;
    unsigned long seen = atomic_fetch_add(&chance, 0x9e3779b97f4a7c15UL);
    seen = (seen ^ (seen >> 30)) * 0xbf58476d1ce4e5b9UL;
    usleep((useconds_t)((seen ^ (seen >> 27)) % (unsigned long)longest_sync));
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CHANGES(flags) ((flags) & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))

static int is_there(int folder, const char *path) {
    int before = errno;
    int found = faccessat(folder, path, F_OK, 0) == 0;
    errno = before;
    return found;
}

/* A file that is not there yet takes room in its folder. */
static enum room room_of_open(int folder, const char *path, int flags) {
    return (flags & O_CREAT) && !is_there(folder, path) ? TAKES_ROOM : TAKES_NONE;
}

/* A file that grows does, too. */
static enum room room_of_length(int file, off64_t length) {
    struct stat known;
    return fstat(file, &known) == 0 && length <= known.st_size ? TAKES_NONE : TAKES_ROOM;
}

#define OPEN(name)                                                                  \
    int name(const char *path, int flags, ...) {                                    \
        va_list rest;                                                               \
        va_start(rest, flags);                                                      \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;     \
        va_end(rest);                                                               \
        return CHANGES(flags) && fails(is_here(path), room_of_open(AT_FDCWD, path, flags))  \
                   ? -1                                                             \
                   : REAL(name)(path, flags, mode);                                 \
    }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                                               \
    int name(int folder, const char *path, int flags, ...) {                        \
        va_list rest;                                                               \
        va_start(rest, flags);                                                      \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;     \
        va_end(rest);                                                               \
        return CHANGES(flags) && fails(is_here(path), room_of_open(folder, path, flags))    \
                   ? -1                                                             \
                   : REAL(name)(folder, path, flags, mode);                         \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

ssize_t write(int file, const void *from, size_t length) {
    return fails(is_open_here(file), TAKES_ROOM) ? -1 : REAL(write)(file, from, length);
}

#define PWRITE(name, offset_type)                                                   \
    ssize_t name(int file, const void *from, size_t length, offset_type at) {       \
        return fails(is_open_here(file), TAKES_ROOM) ? -1 : REAL(name)(file, from, length, at); \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define TRUNCATE(name, offset_type)                                                 \
    int name(int file, offset_type length) {                                        \
        return fails(is_open_here(file), room_of_length(file, length))              \
                   ? -1                                                             \
                   : REAL(name)(file, length);                                      \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define SYNC(name)                                                                  \
    int name(int file) {                                                            \
        wait_for_sync(file);                                                        \
        return fails(is_open_here(file), TAKES_ROOM) ? -1 : REAL(name)(file);       \
    }
SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to) {
    return fails(is_here(from) || is_here(to), TAKES_NONE) ? -1 : REAL(rename)(from, to);
}

/* A second name takes room in its folder. What is not there is missed before anything is written. Rust's library never
   calls link. */
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    int here = (is_here(from) || is_here(to)) && is_there(from_folder, from);
    return fails(here, TAKES_ROOM) ? -1 : REAL(linkat)(from_folder, from, to_folder, to, flags);
}

int unlink(const char *path) {
    return fails(is_here(path), TAKES_NONE) ? -1 : REAL(unlink)(path);
}

int mkdir(const char *path, mode_t mode) {
    return fails(is_here(path), TAKES_ROOM) ? -1 : REAL(mkdir)(path, mode);
}
