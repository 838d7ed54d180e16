"""A disk whose flush takes a millisecond, for whoever is started with it: a few lines of C in front of the C library.

Both sides of a row are slowed alike: `fsync` and `fdatasync` first wait for a flush of that length, then do what they
do. Flushes are shared as the block layer of Linux shares them: one runs at a time, and those that arrive meanwhile
wait for the next one together.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

MICROSECONDS = 1000

_SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static unsigned long begun, done;
static int running;

static void flush(void)
{
    pthread_mutex_lock(&lock);
    unsigned long wanted = begun + 1;   /* one that begins after what was written */
    while (done < wanted) {
        if (running) {
            pthread_cond_wait(&ended, &lock);
            continue;
        }
        running = 1;
        unsigned long mine = ++begun;
        pthread_mutex_unlock(&lock);
        usleep(MICROSECONDS);
        pthread_mutex_lock(&lock);
        running = 0;
        done = mine;
        pthread_cond_broadcast(&ended);
    }
    pthread_mutex_unlock(&lock);
}

int fsync(int fd)
{
    flush();
    return ((int (*)(int)) dlsym(RTLD_NEXT, "fsync"))(fd);
}

int fdatasync(int fd)
{
    flush();
    return ((int (*)(int)) dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
"""


def environment(place: Path) -> dict[str, str] | None:
    """What to add to a process's environment; None where there is no Linux with a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform != "linux":
        return None
    source, target = place / "slow_disk.c", place / "slow_disk.so"
    source.write_text(_SOURCE)
    command = [compiler, "-O1", "-shared", "-fPIC", f"-DMICROSECONDS={MICROSECONDS}", "-o", str(target), str(source)]
    done = subprocess.run([*command, "-ldl", "-lpthread"], capture_output=True, check=False)
    return {"LD_PRELOAD": str(target)} if done.returncode == 0 else None
