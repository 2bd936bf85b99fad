"""The package's own exception."""


class Error(RuntimeError):
    """A checkpoint was refused, or compiling, loading or running it failed; one line says why.

    What is wrong with the arguments of a call is a ValueError instead.
    """
