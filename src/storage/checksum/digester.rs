//! A digest that moves to a separate thread once enough bytes have been written.

use std::{mem, thread};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use sha2::{Digest, Sha256};

/// Number of bytes after which the digest moves to a thread.
const FEW_BYTES: usize = 8 << 20;

/// Bytes sent to the thread at once.
const CHUNK_BYTES: usize = 1 << 18;

/// Chunks that may wait for the thread.
const CHUNKS: usize = 8;

#[derive(Debug)]
pub(super) enum Digester {
    Inline { digest: Sha256, bytes: usize },
    Threaded(DigestThread),
}

impl Default for Digester {
    fn default() -> Self {
        Self::Inline { digest: Sha256::new(), bytes: 0 }
    }
}

impl Digester {
    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Inline { digest, bytes: written } => {
                digest.update(bytes);
                *written += bytes.len();
                if *written >= FEW_BYTES {
                    self.move_to_thread();
                }
            }
            Self::Threaded(thread_digest) => thread_digest.update(bytes),
        }
    }

    fn move_to_thread(&mut self) {
        let digest = self.digest();
        // If no thread can be started, the digest stays inline.
        *self = match DigestThread::start(digest.clone()) {
            Some(thread_digest) => Self::Threaded(thread_digest),
            None => Self::Inline { digest, bytes: 0 },
        };
    }

    pub(super) fn digest(&self) -> Sha256 {
        match self {
            Self::Inline { digest, .. } => digest.clone(),
            Self::Threaded(thread_digest) => thread_digest.digest(),
        }
    }
}

#[derive(Debug)]
pub(super) struct DigestThread {
    commands: Sender<DigestCommand>,
    /// Buffers that the thread returns for reuse.
    emptied: Receiver<Vec<u8>>,
    /// Bytes not yet sent to the thread.
    chunk: Vec<u8>,
}

enum DigestCommand {
    Update(Vec<u8>),
    Report(Sender<Sha256>),
}

impl DigestThread {
    fn start(digest: Sha256) -> Option<Self> {
        let (commands, received) = bounded(CHUNKS);
        let (emptied_here, emptied) = unbounded();
        let work = move || run(digest, &received, &emptied_here);
        thread::Builder::new().name("checksum".into()).spawn(work).ok()?;
        Some(Self { commands, emptied, chunk: Vec::with_capacity(CHUNK_BYTES) })
    }

    fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let free = CHUNK_BYTES - self.chunk.len();
            let (now, later) = bytes.split_at(bytes.len().min(free));
            self.chunk.extend_from_slice(now);
            if self.chunk.len() == CHUNK_BYTES {
                self.send_chunk();
            }
            bytes = later;
        }
    }

    fn send_chunk(&mut self) {
        let mut next = self.emptied.try_recv().unwrap_or_else(|_| Vec::with_capacity(CHUNK_BYTES));
        next.clear();
        let full = mem::replace(&mut self.chunk, next);
        self.send(DigestCommand::Update(full));
    }

    fn digest(&self) -> Sha256 {
        let (reply, digest) = bounded(1);
        self.send(DigestCommand::Report(reply));
        let digest = digest.recv().expect("the thread replies before it ends");
        digest.chain_update(&self.chunk)
    }

    fn send(&self, command: DigestCommand) {
        self.commands
            .send(command)
            .expect("the thread runs until the sender is dropped, and nothing in it panics");
    }
}

fn run(mut digest: Sha256, commands: &Receiver<DigestCommand>, emptied: &Sender<Vec<u8>>) {
    for command in commands {
        // Sending fails if the run has already failed elsewhere and dropped the receiver.
        match command {
            DigestCommand::Update(chunk) => {
                digest.update(&chunk);
                let _ = emptied.send(chunk);
            }
            DigestCommand::Report(reply) => {
                let _ = reply.send(digest.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_does_not_depend_on_threads_or_chunk_sizes() {
        let bytes: Vec<u8> = (0..3 * FEW_BYTES).map(|i| ((i * i) >> 7) as u8).collect();
        for piece in [1000, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES + 7] {
            let mut digester = Digester::default();
            let mut written = 0;
            for (number, piece) in bytes.chunks(piece).enumerate() {
                digester.update(piece);
                written += piece.len();
                if number % 17 == 0 {
                    let expected = Sha256::digest(&bytes[..written]);
                    assert_eq!(digester.digest().finalize(), expected, "{written}");
                }
            }
            assert_eq!(digester.digest().finalize(), Sha256::digest(&bytes));
            assert!(matches!(digester, Digester::Threaded(_)));
        }
    }
}
