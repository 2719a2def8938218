"""The version of this package, and of the program that comes with it."""

VERSION = "0.1.0"
