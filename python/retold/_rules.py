"""What of a request does not count, as the program `retold` takes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

#: Regular expressions, and the text that counts in place of what each matches.
Replacements = Mapping[str, str] | Iterable[tuple[str, str]]


def rules(ignore: Sequence[str] | str, replace: Replacements, redact: Sequence[str] | str = ()) -> list[str]:
    """The options for these rules. A single text is meant as one, not as its letters."""
    words = _repeated("--ignore", ignore)
    for regex, text in replace.items() if isinstance(replace, Mapping) else replace:
        if "=" in text:
            raise ValueError(f"the text that counts in place of {regex!r} cannot have a = in it: {text!r}")
        words += ["--replace", f"{regex}={text}"]
    return words + _repeated("--redact", redact)


def _repeated(flag: str, values: Sequence[str] | str) -> list[str]:
    values = [values] if isinstance(values, str) else values
    # In one word, because a value may begin with a dash.
    return [f"{flag}={value}" for value in values]
