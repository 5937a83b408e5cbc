//! Serves the metrics of a run over HTTP, for a Prometheus that can reach the machine of the run.
//!
//! A page of text on a loopback port needs no HTTP library: `tiny_http` had no release since 2022, and `hyper` needs an
//! asynchronous runtime, which only builds with object stores have.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time between two looks for connections.
const PAUSE: Duration = Duration::from_millis(50);

/// Time for one request and its answer. Requests are answered one after the other.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum size of a request.
const MAX_REQUEST: usize = 8 << 10;

/// A thread that answers requests with the latest text. Ends when it is dropped.
#[derive(Debug)]
pub(super) struct MetricsServer {
    text: Arc<Mutex<String>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl MetricsServer {
    pub(super) fn start(address: SocketAddr) -> io::Result<Self> {
        Self::on(TcpListener::bind(address)?)
    }

    fn on(listener: TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        tracing::info!("metrics: http://{}/metrics", listener.local_addr()?);
        let (text, stop) = (Arc::<Mutex<String>>::default(), Arc::<AtomicBool>::default());
        let thread = thread::Builder::new().name("metrics".to_owned()).spawn({
            let (text, stop) = (Arc::clone(&text), Arc::clone(&stop));
            move || serve(&listener, &text, &stop)
        })?;
        Ok(Self { text, stop, thread: Some(thread) })
    }

    pub(super) fn set(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been printed. It does not concern the run.
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, text: &Mutex<String>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        match listener.accept() {
            // A client that goes away, or that is too slow, does not concern the run.
            Ok((stream, _)) => drop(answer(stream, text, stop)),
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

fn answer(mut stream: TcpStream, text: &Mutex<String>, stop: &AtomicBool) -> io::Result<()> {
    // Some systems give the stream the mode of the listener.
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PAUSE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (started, mut request) = (Instant::now(), Vec::new());
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if started.elapsed() > PATIENCE
            || request.len() > MAX_REQUEST
            || stop.load(Ordering::Relaxed)
        {
            return Ok(());
        }
        let mut buffer = [0; 1024];
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => request.extend_from_slice(&buffer[..read]),
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    let line = request.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let (status, body) = match line.split(|&byte| byte == b' ').collect::<Vec<_>>()[..] {
        [b"GET", b"/metrics" | b"/", _] => {
            ("200 OK", text.lock().unwrap_or_else(PoisonError::into_inner).clone())
        }
        [b"GET", ..] => ("404 Not Found", "the metrics are at /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "only GET is supported\n".to_owned()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    #[test]
    fn the_latest_text_is_served() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = MetricsServer::on(listener).unwrap();
        server.set("a 1\n".to_owned());
        let expected = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
                        Content-Length: 4\r\nConnection: close\r\n\r\na 1\n";
        let request = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
        assert_eq!(response(address, request), expected);
        server.set("a 2\n".to_owned());
        assert!(response(address, request).ends_with("\r\n\r\na 2\n"));
        assert!(response(address, "GET /other HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(response(address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
        // Silent and broken clients neither stop the server nor get an answer.
        let silent = TcpStream::connect(address).unwrap();
        assert_eq!(response(address, &"x".repeat(MAX_REQUEST + 1)), "");
        drop(silent);
        assert!(response(address, request).starts_with("HTTP/1.1 200 "));
        assert!(MetricsServer::start(address).is_err());
        drop(server);
        assert!(TcpStream::connect(address).is_err());
    }
}
