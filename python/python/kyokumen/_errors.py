"""Exceptions with the location of the error."""

from __future__ import annotations


class KyokumenError(Exception):
    """Base class of the errors of this package.

    `file` is the name of the file, `record` the number of the record in it, from 0, and `byte` the offset of the
    record. Each is None if it is unknown or does not apply. The classes are also exceptions of Python: `ValueError` for
    wrong arguments and data, `OSError` and its subclasses for files. Ctrl-C raises `KeyboardInterrupt`.
    """

    file: str | None
    record: int | None
    byte: int | None
    errno: int | None

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        record: int | None = None,
        byte: int | None = None,
        errno: int | None = None,
    ) -> None:
        super().__init__(message)
        self.errno = errno
        if isinstance(self, OSError):
            # Not an assignment: mypy would look for the attribute in this class.
            setattr(self, "filename", file)
        self.file = file
        self.record = record
        self.byte = byte

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.args[0], self.file, self.record, self.byte, self.errno)


class UsageError(KyokumenError, ValueError):
    """The operation is not possible with these arguments, inputs and outputs."""


class PositionError(KyokumenError, ValueError):
    """A text is not an SFEN, or the side to move could capture the king."""


class BadRecordError(KyokumenError, ValueError):
    """A record cannot be decoded or used. `file`, `record` and `byte` locate it."""


class FileError(KyokumenError, OSError):
    """A file cannot be read or written, or is damaged. `errno` is the number of the operating system's error."""


class NotFoundError(FileError, FileNotFoundError):
    """A file does not exist."""


class PermissionDeniedError(FileError, PermissionError):
    """The operating system does not permit the access to a file."""


class UnknownLengthError(KyokumenError, TypeError):
    """The length is unknown. A TypeError, as for objects without a length."""


class ExistsError(UsageError, FileExistsError):
    """An output exists. `force=True` replaces it."""


def _restore(
    kind: type[KyokumenError],
    message: str,
    file: str | None,
    record: int | None,
    byte: int | None,
    errno: int | None = None,
) -> KyokumenError:
    return kind(message, file=file, record=record, byte=byte, errno=errno)
