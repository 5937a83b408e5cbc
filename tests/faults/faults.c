/* Lets system calls fail, for tests/it/faults.rs. Loaded with LD_PRELOAD on Linux.
 *
 * FAULT_CALL    the kind of calls that fail, one of the names below; without it no call fails
 * FAULT_FIRST   the number of the first call that fails, from 1
 * FAULT_MANY    1 if all later calls fail too; with EINTR every other call, since the program repeats it
 * FAULT_ERRNO   the error number
 * FAULT_FOLDER  only calls on paths in this folder are counted
 * FAULT_REPORT  the file for the numbers of counted calls: a line for each kind with its name
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static const char *call, *folder, *report;
static long first, many, with;
/* `open` is for writing, `look` is `open` for reading. */
static const char *const names[] = {"rename", "fsync", "open", "look", "unlink",
                                    "ftruncate", "write", "read", "mkdir", "flock"};
enum { KINDS = sizeof names / sizeof *names };
static atomic_long counted[KINDS];

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

__attribute__((constructor)) static void begin(void) {
    call = getenv("FAULT_CALL");
    folder = getenv("FAULT_FOLDER");
    report = getenv("FAULT_REPORT");
    first = number("FAULT_FIRST");
    many = number("FAULT_MANY");
    with = number("FAULT_ERRNO");
}

__attribute__((destructor)) static void end(void) {
    char text[32 * KINDS];
    int len = 0;
    for (int kind = 0; kind < KINDS; kind++)
        len += sprintf(text + len, "%s %ld\n", names[kind], atomic_load(&counted[kind]));
    int file = report ? syscall(SYS_openat, AT_FDCWD, report, O_CREAT | O_WRONLY | O_TRUNC, 0600) : -1;
    if (file >= 0) {
        (void)!syscall(SYS_write, file, text, len);
        syscall(SYS_close, file);
    }
}

static int fails(const char *name, const char *path) {
    if (!folder || (call && strcmp(call, name)) || strncmp(path, folder, strlen(folder)))
        return 0;
    int kind = 0;
    while (strcmp(names[kind], name))
        kind++;
    long this = atomic_fetch_add(&counted[kind], 1) + 1;
    if (!call || this < first || (this > first && !many))
        return 0;
    if (with == EINTR && (this - first) % 2)
        return 0;
    errno = with;
    return 1;
}

static int fails_of(const char *name, int file) {
    char link[32], path[4096];
    if (call && strcmp(call, name))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t len = readlink(link, path, sizeof path - 1);
    if (len < 0)
        return 0;
    path[len] = 0;
    return fails(name, path);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int rename(const char *from, const char *to) {
    return fails("rename", to) ? -1 : NEXT(rename)(from, to);
}

int unlink(const char *path) {
    return fails("unlink", path) ? -1 : NEXT(unlink)(path);
}

int mkdir(const char *path, mode_t mode) {
    return fails("mkdir", path) ? -1 : NEXT(mkdir)(path, mode);
}

int fsync(int file) {
    return fails_of("fsync", file) ? -1 : NEXT(fsync)(file);
}

int fdatasync(int file) {
    return fails_of("fsync", file) ? -1 : NEXT(fdatasync)(file);
}

int ftruncate(int file, off_t len) {
    return fails_of("ftruncate", file) ? -1 : NEXT(ftruncate)(file, len);
}

int ftruncate64(int file, off64_t len) {
    return fails_of("ftruncate", file) ? -1 : NEXT(ftruncate64)(file, len);
}

int flock(int file, int operation) {
    return fails_of("flock", file) ? -1 : NEXT(flock)(file, operation);
}

ssize_t write(int file, const void *bytes, size_t len) {
    return fails_of("write", file) ? -1 : NEXT(write)(file, bytes, len);
}

ssize_t read(int file, void *bytes, size_t len) {
    return fails_of("read", file) ? -1 : NEXT(read)(file, bytes, len);
}

static int opening_fails(const char *path, int flags) {
    return fails(flags & (O_WRONLY | O_RDWR) ? "open" : "look", path);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return opening_fails(path, flags) ? -1 : NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return opening_fails(path, flags) ? -1 : NEXT(open64)(path, flags, mode);
}
