"""libconvbert.so as C sees it: functions that answer with a JSON string, or leave a message of one line."""

import ctypes
import json


class Library:
    def __init__(self, path):
        self.path = path
        self.library = ctypes.CDLL(str(path))
        self.library.convbert_string_free.argtypes = [ctypes.c_void_p]

    def take(self, pointer):
        text = ctypes.string_at(pointer).decode()
        self.library.convbert_string_free(pointer)
        return text

    def ask(self, function, *arguments):
        """The answer of `function`, whose last argument takes the message; ValueError with the message if it fails."""
        error = ctypes.c_void_p()
        answer = function(*arguments, ctypes.byref(error))
        if answer:
            assert not error.value
            return json.loads(self.take(answer))
        message = self.take(error.value)
        assert "\n" not in message
        raise ValueError(message)
