//! Reads and writes that are retried when a signal interrupts them.
//!
//! After `EINTR`, no data has been transferred (POSIX). `read_exact`, `read_to_end` and `write_all` retry by
//! themselves, but some encoders and decoders do not.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};

/// Wraps a reader or writer and never returns `EINTR`.
pub(crate) struct RetryInterrupted<T>(pub(crate) T);

fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            called => return called,
        }
    }
}

impl<T: Read> Read for RetryInterrupted<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        retry(|| self.0.read(bytes))
    }
}

impl<T: Write> Write for RetryInterrupted<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        retry(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        retry(|| self.0.flush())
    }
}

impl<T: Seek> Seek for RetryInterrupted<T> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        retry(|| self.0.seek(to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::checksum::Sha256Sum;

    /// A file whose every other call is interrupted. Each successful call transfers one byte.
    struct Signalled {
        bytes: Vec<u8>,
        is_calm: bool,
    }

    impl Signalled {
        fn call(&mut self) -> io::Result<()> {
            self.is_calm = !self.is_calm;
            if self.is_calm { Ok(()) } else { Err(ErrorKind::Interrupted.into()) }
        }
    }

    impl Read for Signalled {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.call()?;
            let Some(byte) = self.bytes.pop() else { return Ok(0) };
            bytes[0] = byte;
            Ok(1)
        }
    }

    impl Write for Signalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.call()?;
            self.bytes.push(bytes[0]);
            Ok(1)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.call()
        }
    }

    #[test]
    fn interrupted_calls_are_retried_without_loss() {
        let mut file = RetryInterrupted(Signalled { bytes: Vec::new(), is_calm: true });
        assert_eq!(file.write(b"abc").unwrap(), 1);
        assert_eq!(file.write(b"bc").unwrap(), 1);
        file.flush().unwrap();
        let mut bytes = [0; 4];
        assert_eq!((file.read(&mut bytes).unwrap(), bytes[0]), (1, b'b'));
        assert_eq!((file.read(&mut bytes).unwrap(), bytes[0]), (1, b'a'));
        assert_eq!(file.read(&mut bytes).unwrap(), 0);
    }

    #[test]
    fn interrupted_reads_do_not_change_checksums() {
        let file = Signalled { bytes: b"cba".to_vec(), is_calm: true };
        assert_eq!(Sha256Sum::of_reader(file).unwrap(), Sha256Sum::of(b"abc"));
    }
}
