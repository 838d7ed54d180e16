"""Locks exclude, go with their holder, are fair when asked, and say what to do where a disk cannot lock."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lockstitch.errors import StorageError
from lockstitch.platform import locks
from lockstitch.platform.locks import FileLock, Flock, LockFile, is_held, try_lock


def test_one_holder_at_a_time(tmp_path: Path):
    """A second one gets False at once, and the lock when the first lets go."""
    one, two = FileLock(tmp_path / "l"), FileLock(tmp_path / "l")
    assert one.acquire(0)
    assert not two.acquire(0)
    assert not two.acquire(0.02)
    assert is_held(tmp_path / "l")
    one.release()
    assert two.acquire(0)
    two.close()
    assert not is_held(tmp_path / "l")
    assert (tmp_path / "l").exists()


def test_shared_locks_share(tmp_path: Path):
    """Readers do not exclude each other, only a writer."""
    one, two, three = (FileLock(tmp_path / "l") for _ in range(3))
    assert one.acquire(0, shared=True)
    assert two.acquire(0, shared=True)
    assert not three.acquire(0)


def test_a_dead_holder_holds_nothing(tmp_path: Path):
    """SIGKILL frees the lock; the file stays, and what it says proves nothing."""
    code = (
        "import sys; from lockstitch.platform.locks import FileLock\n"
        "lock = FileLock(sys.argv[1]); assert lock.acquire(0); lock.write_holder('pid 1')\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "l"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        assert is_held(tmp_path / "l")
        assert try_lock(tmp_path / "l") is None
        assert FileLock(tmp_path / "l").read_holder() == "pid 1"
        child.kill()
        child.communicate()
    assert not is_held(tmp_path / "l")
    lock = try_lock(tmp_path / "l")
    assert lock is not None
    lock.write_holder("p")
    assert lock.read_holder() == "p"
    lock.close()


def test_a_lock_file_that_was_replaced_locks_nobody_out(tmp_path: Path):
    """A deleted and made-anew file is noticed: nobody holds a lock on a file that others do not see."""
    one, two = FileLock(tmp_path / "l"), FileLock(tmp_path / "l")
    assert one.acquire(0)
    one.release()
    (tmp_path / "l").unlink()
    assert two.acquire(0)
    assert not one.acquire(0)


def test_a_fair_lock_is_not_taken_twice_running_while_another_waits(tmp_path: Path):
    """One who lets go and comes again at once stands behind the one who waits."""
    greedy, waiting = (FileLock(tmp_path / "l", fair=True) for _ in range(2))
    order = list[str]()
    assert greedy.acquire(1)

    def wait() -> None:
        assert waiting.acquire(10)
        order.append("waiting")
        waiting.release()

    thread = threading.Thread(target=wait)
    thread.start()
    while not is_held(tmp_path / "l.next"):
        pass
    greedy.release()
    assert greedy.acquire(10)
    order.append("greedy")
    thread.join()
    assert order == ["waiting", "greedy"]


def test_a_fair_lock_that_times_out_leaves_no_trace(tmp_path: Path):
    """One who gives up waiting stands in nobody's way."""
    one, two, three = (FileLock(tmp_path / "l", fair=True) for _ in range(3))
    assert one.acquire(0)
    assert not two.acquire(0)
    assert not is_held(tmp_path / "l.next")
    one.release()
    assert three.acquire(0)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EPROTO, errno.EOPNOTSUPP])
def test_a_disk_that_cannot_lock_is_named_with_the_way_out(tmp_path: Path, number: int):
    """Field report B42. No hang, no silence: the error names the path and the setting."""

    class Refusing:
        def lock(self, fd: int, *, shared: bool) -> bool:
            raise OSError(number, os.strerror(number))

        def unlock(self, fd: int) -> None: ...

    for attempt in (
        lambda: FileLock(tmp_path / "l", locking=Refusing()).acquire(5),
        lambda: is_held(tmp_path / "l", locking=Refusing()),
    ):
        with pytest.raises(StorageError) as caught:
            attempt()
        assert caught.value.kind == "storageFailed"
        assert caught.value.facts == {"path": str(tmp_path / "l"), "errno": number}
        assert "--data-dir" in caught.value.message


def test_a_planted_link_is_not_locked(tmp_path: Path):
    """A lock file that is a link is refused."""
    (tmp_path / "real").write_bytes(b"")
    (tmp_path / "l").symlink_to(tmp_path / "real")
    with pytest.raises(StorageError):
        FileLock(tmp_path / "l").acquire(0)


def test_reading_who_holds_a_lock_that_is_not_there(tmp_path: Path):
    """No file, no holder, and none is created."""
    assert locks.read_holder(tmp_path / "none") is None
    assert not is_held(tmp_path / "none")
    assert not (tmp_path / "none").exists()


class Fcntl:
    LOCK_SH, LOCK_EX, LOCK_NB, LOCK_UN = 1, 2, 4, 8

    def __init__(self, error: int = 0) -> None:
        self.calls: list[tuple[int, int]] = []
        self.error = error

    def flock(self, fd: int, kind: int) -> None:
        self.calls.append((fd, kind))
        if self.error:
            raise OSError(self.error, "no")


def test_flock_is_asked_not_to_wait():
    """Exclusive or shared, never blocking; busy is False, anything else an error."""
    fcntl = Fcntl()
    assert Flock(fcntl).lock(3, shared=False)
    assert Flock(fcntl).lock(3, shared=True)
    Flock(fcntl).unlock(3)
    assert fcntl.calls == [(3, 2 | 4), (3, 1 | 4), (3, 8)]
    assert not Flock(Fcntl(errno.EAGAIN)).lock(3, shared=False)
    with pytest.raises(OSError):
        Flock(Fcntl(errno.ENOLCK)).lock(3, shared=False)


def test_lockfileex_locks_a_byte_behind_the_text():
    """LockFileEx is mandatory, so the byte it locks is none that says who the holder is."""
    calls = list[tuple[int, ...]]()
    answer = [0]

    def lock(*arguments: int) -> int:
        calls.append(arguments)
        return answer[0]

    def unlock(*arguments: int) -> int:
        calls.append(arguments)
        return 0

    windows = LockFile(lock, unlock)
    assert windows.lock(3, shared=False)
    assert windows.lock(3, shared=True)
    windows.unlock(3)
    assert calls == [(3, 3, 0x7FFF0000), (3, 1, 0x7FFF0000), (3, 0x7FFF0000)]
    answer[0] = LockFile.VIOLATION
    assert not windows.lock(3, shared=False)
    answer[0] = 50
    with pytest.raises(OSError):
        windows.lock(3, shared=False)
