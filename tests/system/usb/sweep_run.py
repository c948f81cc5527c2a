"""For sweep.py: programs that run with a deadline, and a cable of bytes that can be struck."""
import os
import random
import select
import signal
import socket
import subprocess
import threading
import time
import tty

END_S = 120 # after an interrupt


class Ended:
    """How a program ended: code, out, err, seconds, cpu (seconds of it and its children), how ("by itself", "interrupted", "killed")."""


def wait(process, seconds):
    """Whether it ended in time; then process.usage is what it used."""
    fd = os.pidfd_open(process.pid)
    p = select.poll()
    p.register(fd, select.POLLIN)
    over = bool(p.poll(max(0, seconds) * 1000))
    os.close(fd)
    if over:
        _, status, process.usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return over


def run(command, folder, env, tmp, seconds, interrupt_s=None):
    """interrupt_s: an interrupt after so long is what is tried, and no finding."""
    r = Ended()
    with open(os.path.join(tmp, "out"), "w+", errors="replace") as out, open(os.path.join(tmp, "err"), "w+", errors="replace") as err:
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=folder, env=env, start_new_session=True)
        r.how = "by itself"
        if not wait(process, interrupt_s if interrupt_s else seconds):
            r.how = "interrupted"
            process.send_signal(signal.SIGINT)
            if not wait(process, END_S):
                r.how = "killed"
                os.killpg(process.pid, signal.SIGKILL)
                wait(process, END_S)
        r.code, r.seconds, r.cpu = process.returncode, time.monotonic() - began, process.usage.ru_utime + process.usage.ru_stime
        if r.code < 0:
            r.code = 128 - r.code  # as a shell has it, and the rig
        out.seek(0)
        err.seek(0)
        r.out, r.err = out.read(), err.read()
    return r


class Cable(threading.Thread):
    """Carries bytes between a program and what it talks to. What goes one way without a pause by the other is one transfer, counted
    from 1; one of them is struck. far: descriptor of the other end; the near end is made by open_near(), again after an unplugging."""
    QUIET_S = 0.004 # an answer is whole then
    STALL_S = 1.5

    def __init__(self, kind, at, replug_s, seed):
        super().__init__(daemon=True)
        self.kind, self.at, self.replug_s = kind, at, replug_s
        self.random = random.Random(seed)
        self.transfers = self.faults = 0
        self.notes = []
        self.near, self.way, self.over = None, None, False
        self.held, self.last, self.back_at = b"", b"", None

    def stop(self):
        self.over = True
        self.join()

    def unplug(self):
        self.close_near()
        self.near = None
        self.back_at = time.monotonic() + self.replug_s if self.replug_s is not None else None

    def gather(self, fd, first):
        data, fds = first, select.poll()
        fds.register(fd, select.POLLIN)
        while fds.poll(self.QUIET_S * 1000):
            more = self.read(fd)
            if not more:
                break
            data += more
        return data

    def strike(self, fd, answer, data):
        """What arrives in place of the data; the fault is done."""
        self.faults += 1
        if self.kind in ("unplug", "gone"):
            self.unplug()
            return b""
        data = self.gather(fd, data)
        if self.kind == "stall":
            time.sleep(self.STALL_S)
        elif self.kind == "timeout": # comes late, before the next
            self.held, data = data, b""
        elif self.kind == "short":
            data = data[:len(data) // 2]
        elif self.kind == "stale":
            self.held, data = data, self.last
        elif self.kind == "garbage":
            data = bytes(self.random.randrange(256) for _ in data)
        return data

    def carry(self, fd):
        data, answer = self.read(fd), fd != self.near
        if not data:
            return False
        if self.way != answer:
            self.way = answer
            self.transfers += 1
            self.notes.append((answer, len(data).bit_length()))
            wants_answer = self.kind in ("stale", "timeout")
            if self.kind and self.at <= self.transfers and not self.faults and (answer or not wants_answer):
                data = self.strike(fd, answer, data)
            elif answer:
                self.held, data = b"", self.held + data
            self.last = data if answer else self.last
        if self.near is not None:
            self.write(self.near if answer else self.far, data)
        return True

    def watched(self):
        return [fd for fd in (self.near, self.far) if fd is not None]

    def run(self):
        while not self.over:
            if self.back_at and time.monotonic() >= self.back_at:
                self.open_near()
                self.back_at = None
            fds = select.poll()
            for fd in self.watched():
                fds.register(fd, select.POLLIN)
            for fd, what in fds.poll(20):
                if fd in self.watched() and not (what & select.POLLIN and self.carry(fd)):
                    self.hung_up(fd)
        self.close()


def raw(fd):
    tty.setraw(fd)
    return fd


class SerialCable(Cable):
    """Between a terminal and a pseudo terminal that stands behind the link `port`."""
    def __init__(self, terminal, port, *more):
        super().__init__(*more)
        self.far, self.port = raw(os.open(terminal, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)), port
        self.open_near()

    def open_near(self):
        self.near, slave = os.openpty()
        raw(slave)
        os.symlink(os.ttyname(slave), self.port)
        os.set_blocking(self.near, False)
        os.close(slave)

    def close_near(self):
        os.unlink(self.port)
        os.close(self.near)

    def read(self, fd):
        try:
            return os.read(fd, 4096)
        except OSError: # nobody has opened it, or it is closed
            return b""

    def write(self, fd, data):
        while data and not self.over:
            try:
                data = data[os.write(fd, data):]
            except BlockingIOError:
                time.sleep(0.001)
            except OSError:
                return

    def hung_up(self, fd):
        time.sleep(0.002) # until somebody opens it (again)

    def close(self):
        if self.near is not None:
            self.close_near()
        os.close(self.far)


class TcpCable(Cable):
    """Between a stub and a port of its own; every connection to one is a connection to the other."""
    def __init__(self, stub_port, *more):
        super().__init__(*more)
        self.stub_port, self.port = stub_port, 0
        self.listener = self.near_socket = self.far_socket = self.far = None # no connection yet
        self.listen()

    def listen(self):
        while self.listener is None:
            try:
                self.listener = socket.create_server(("127.0.0.1", self.port))
            except OSError: # somebody's connection has that number just now
                time.sleep(0.05)
        self.port = self.listener.getsockname()[1]

    def watched(self):
        return ([self.listener.fileno()] if self.listener else []) + super().watched()

    def carry(self, fd):
        if self.listener is None or fd != self.listener.fileno():
            return super().carry(fd)
        self.hang_up()
        self.near_socket, self.far_socket = self.listener.accept()[0], socket.create_connection(("127.0.0.1", self.stub_port))
        for s in (self.near_socket, self.far_socket):
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.near, self.far = self.near_socket.fileno(), self.far_socket.fileno()
        return True

    def hang_up(self):
        self.near = self.far = None
        for s in (self.near_socket, self.far_socket):
            if s:
                s.close()
        self.near_socket = self.far_socket = None

    def open_near(self):
        self.listen()

    def close_near(self):
        self.listener.close()
        self.listener = None
        self.hang_up()

    def read(self, fd):
        try:
            return os.read(fd, 65536)
        except OSError:
            return b""

    def write(self, fd, data):
        try:
            while data:
                data = data[os.write(fd, data):]
        except OSError:
            pass

    def hung_up(self, fd):
        self.hang_up()

    def close(self):
        if self.listener:
            self.close_near()
