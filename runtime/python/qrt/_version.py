"""The version of this package. A libqrt of another MAJOR.MINOR is refused."""
__version__ = "0.1.0"
