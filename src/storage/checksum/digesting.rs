//! A digest that moves to a thread of its own when there is much to do: whoever writes has enough to do.

use std::{mem, thread};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use sha2::{Digest, Sha256};

/// Bytes after which the digest moves.
const FEW_BYTES: usize = 8 << 20;

/// Bytes that are handed over at once.
const CHUNK_BYTES: usize = 1 << 18;

/// Chunks that may wait for the thread.
const CHUNKS: usize = 8;

#[derive(Debug)]
pub(super) enum Digesting {
    Here { digest: Sha256, bytes: usize },
    Elsewhere(Elsewhere),
}

impl Default for Digesting {
    fn default() -> Self {
        Self::Here { digest: Sha256::new(), bytes: 0 }
    }
}

impl Digesting {
    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Here { digest, bytes: so_far } => {
                digest.update(bytes);
                *so_far += bytes.len();
                if *so_far >= FEW_BYTES {
                    self.move_elsewhere();
                }
            }
            Self::Elsewhere(elsewhere) => elsewhere.update(bytes),
        }
    }

    fn move_elsewhere(&mut self) {
        let digest = self.digest();
        // Where there is no thread to be had, it stays.
        *self = match Elsewhere::start(digest.clone()) {
            Some(elsewhere) => Self::Elsewhere(elsewhere),
            None => Self::Here { digest, bytes: 0 },
        };
    }

    /// Of all that came so far.
    pub(super) fn digest(&self) -> Sha256 {
        match self {
            Self::Here { digest, .. } => digest.clone(),
            Self::Elsewhere(elsewhere) => elsewhere.digest(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Elsewhere {
    orders: Sender<Order>,
    /// Chunks that were read, for the next bytes.
    emptied: Receiver<Vec<u8>>,
    /// Bytes on which the thread has not been set yet.
    chunk: Vec<u8>,
}

enum Order {
    Update(Vec<u8>),
    Say(Sender<Sha256>),
}

impl Elsewhere {
    fn start(digest: Sha256) -> Option<Self> {
        let (orders, received) = bounded(CHUNKS);
        let (emptied_here, emptied) = unbounded();
        let work = move || follow(digest, &received, &emptied_here);
        thread::Builder::new().name("checksum".into()).spawn(work).ok()?;
        Some(Self { orders, emptied, chunk: Vec::with_capacity(CHUNK_BYTES) })
    }

    fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = CHUNK_BYTES - self.chunk.len();
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.chunk.extend_from_slice(now);
            if self.chunk.len() == CHUNK_BYTES {
                self.hand_over();
            }
            bytes = later;
        }
    }

    fn hand_over(&mut self) {
        let mut next = self.emptied.try_recv().unwrap_or_else(|_| Vec::with_capacity(CHUNK_BYTES));
        next.clear();
        let full = mem::replace(&mut self.chunk, next);
        self.order(Order::Update(full));
    }

    fn digest(&self) -> Sha256 {
        let (said, digest) = bounded(1);
        self.order(Order::Say(said));
        let digest = digest.recv().expect("the thread says it before it ends");
        digest.chain_update(&self.chunk)
    }

    fn order(&self, order: Order) {
        self.orders
            .send(order)
            .expect("the thread ends with its last order, and nothing in it panics");
    }
}

fn follow(mut digest: Sha256, orders: &Receiver<Order>, emptied: &Sender<Vec<u8>>) {
    for order in orders {
        // Nobody listens any more when the run has failed elsewhere.
        match order {
            Order::Update(chunk) => {
                digest.update(&chunk);
                let _ = emptied.send(chunk);
            }
            Order::Say(said) => {
                let _ = said.send(digest.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_same_wherever_it_is_made_and_however_bytes_come() {
        let bytes: Vec<u8> = (0..3 * FEW_BYTES).map(|i| ((i * i) >> 7) as u8).collect();
        for piece in [1000, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES + 7] {
            let mut digesting = Digesting::default();
            let mut so_far = 0;
            for (number, piece) in bytes.chunks(piece).enumerate() {
                digesting.update(piece);
                so_far += piece.len();
                if number % 17 == 0 {
                    let expected = Sha256::digest(&bytes[..so_far]);
                    assert_eq!(digesting.digest().finalize(), expected, "{so_far}");
                }
            }
            assert_eq!(digesting.digest().finalize(), Sha256::digest(&bytes));
            assert!(matches!(digesting, Digesting::Elsewhere(_)));
        }
    }
}
