/* Preloaded into a process: a file system that does not lock (NO_LOCKS=1), or whose syncs take SLOW_SYNC_MS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static int lies(int command) {
  return getenv("NO_LOCKS") && (command == F_SETLK || command == F_SETLKW);
}

#define WRAP(name)                                                      \
  int name(int fd, int command, ...) {                                  \
    va_list list;                                                       \
    va_start(list, command);                                            \
    void *argument = va_arg(list, void *);                              \
    va_end(list);                                                       \
    if (lies(command)) {                                                \
      errno = ENOLCK;                                                   \
      return -1;                                                        \
    }                                                                   \
    int (*real)(int, int, ...) = dlsym(RTLD_NEXT, #name);               \
    return real(fd, command, argument);                                 \
  }
WRAP(fcntl)
WRAP(fcntl64)

static void wait_as_told(void) {
  const char *ms = getenv("SLOW_SYNC_MS");
  if (ms) usleep(atoi(ms) * 1000);
}
int fsync(int fd) {
  wait_as_told();
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  return real(fd);
}
int fdatasync(int fd) {
  wait_as_told();
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  return real(fd);
}
