"""What ends a sweep."""


class Failure(Exception):
    """An error of the whole sweep, with the code whose page `sluice explain` prints."""

    def __init__(self, code: str, message: str, exit_code: int = 2, kind: str = "argument") -> None:
        super().__init__(message)
        self.code, self.exit_code, self.kind = code, exit_code, kind

    def __str__(self) -> str:
        return f"error[{self.code}]: {self.args[0]}"
