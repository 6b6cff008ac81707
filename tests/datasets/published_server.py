"""A real server on this machine that serves one content at every path: well, badly, or only in part."""

import hashlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from profet.datasets.download import Published

CONTENT = bytes(i % 251 for i in range(300_000))
SHA256 = hashlib.sha256(CONTENT).hexdigest()
FILE = Published("data/a.pickle", SHA256)


class Server(ThreadingHTTPServer):
    """Serves CONTENT at every path, as its switches say; keeps what was asked of it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.honours_range = True
        self.cut_after: list[int] = []  # bytes after which each next answer ends too early
        self.statuses: list[int] = []  # what each next request is answered instead
        self.ranges: list[str | None] = []
        self.paths: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        wanted = self.headers["Range"]
        self.server.ranges.append(wanted)
        self.server.paths.append(self.path)
        if self.server.statuses:
            self.answer(self.server.statuses.pop(0), b"no", {"Location": "/moved" + self.path})
            return
        content = self.server.content
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.server.honours_range else 0
        if start and start >= len(content):
            self.answer(416, b"")
        elif start:
            self.answer(206, content[start:], {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"})
        else:
            self.answer(200, content)

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: self.server.cut_after.pop(0)] if self.server.cut_after else body)
        self.close_connection = True
