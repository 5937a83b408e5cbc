"""A local S3 server, and a proxy in front of it that records requests and disturbs them."""

import http.client
import http.server
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

BUCKET = "bucket"


class Server:
    """The server of moto, in a separate process."""

    def __enter__(self):
        self.port = free_port()
        command = pathlib.Path(sys.executable).with_name("moto_server")
        words = [command, "-H", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    break
            if self.process.poll() is not None:
                raise SystemExit("moto_server ended")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Request:
    """A request through the proxy. `read` and `written` are numbers of body bytes."""

    def __init__(self, method, path, byte_range, read, written, status):
        self.method, self.path, self.range = method, path, byte_range
        self.read, self.written, self.status = read, written, status


class Proxy:
    """Passes requests on to the server. First it calls `before(method, path)`, which may wait. `before` may also return
    a status, which is answered instead, or "cut", which sends half of the answer."""

    def __init__(self, server):
        self.requests, self.before = [], lambda method, path: None
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                disturbance = proxy.before(self.command, self.path)
                if isinstance(disturbance, int):
                    self.log(len(body), 0, disturbance)
                    return self.answer(disturbance, [], b"")
                inner = http.client.HTTPConnection("127.0.0.1", server.port)
                inner.request(self.command, self.path, body, dict(self.headers))
                response = inner.getresponse()
                content = response.read()
                inner.close()
                skipped = ("connection", "transfer-encoding", "server", "date")
                headers = [(k, v) for k, v in response.getheaders() if k.lower() not in skipped]
                sent = content[: len(content) // 2] if disturbance == "cut" else content
                self.log(len(body), len(sent), response.status)
                self.answer(response.status, headers, sent, len(content))

            def log(self, written, read, status):
                byte_range = self.headers.get("Range")
                request = Request(self.command, self.path, byte_range, read, written, status)
                proxy.requests.append(request)

            def answer(self, status, headers, content, length=0):
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                if not any(name.lower() == "content-length" for name, _ in headers) and status != 204:
                    self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(content)
                if self.command != "HEAD" and len(content) < length:
                    self.close_connection = True

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_any

            def log_message(self, *_):
                pass

        class Silent(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """Killed clients close their connections during an answer."""

        self.http = Silent(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.http.server_port}"

    def begin(self, before=None):
        """Clears the recorded requests and sets `before`."""
        self.requests.clear()
        self.before = before or (lambda method, path: None)


def environment(endpoint):
    """The environment of a process that uses this endpoint."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    own = {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        # No server answers at this address.
        "AWS_METADATA_ENDPOINT": f"http://127.0.0.1:{free_port()}",
        "NO_PROXY": "127.0.0.1",
    }
    return kept | own


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
