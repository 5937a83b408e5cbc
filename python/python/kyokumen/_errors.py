"""Exceptions, which say where something is wrong."""

from __future__ import annotations


class KyokumenError(Exception):
    """Why something could not be done, and where: the file, the number of the record in it from 0, and the byte at which
    the record begins, each None where it is not known or there is none."""

    file: str | None
    record: int | None
    byte: int | None

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        record: int | None = None,
        byte: int | None = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.record = record
        self.byte = byte

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), self.args[0], self.file, self.record, self.byte)


class UsageError(KyokumenError, ValueError):
    """What was asked for cannot be done with these arguments, inputs and outputs."""


class PositionError(KyokumenError, ValueError):
    """No position of a game: a text that is no SFEN, or a side to move that could take the king."""


class BadRecordError(KyokumenError, ValueError):
    """Bytes that are no record, or a record that cannot be used: `file`, `record` and `byte` say which."""


class FileError(KyokumenError, OSError):
    """A file cannot be read or written, or is damaged."""


class NotFoundError(FileError, FileNotFoundError):
    """A file that is not there."""


def _again(
    kind: type[KyokumenError], message: str, file: str | None, record: int | None, byte: int | None
) -> KyokumenError:
    return kind(message, file=file, record=record, byte=byte)
