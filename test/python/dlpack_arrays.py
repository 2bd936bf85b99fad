"""Arrays of other libraries, as far as this package sees them."""


class OnlyDLPack:
    """An array that can be read through DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()
