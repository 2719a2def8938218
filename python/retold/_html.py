"""Tables as a notebook shows them. Texts are a stranger's: they are escaped, and cut."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

#: The rows, the columns and the characters of a text that are shown.
_ROWS, _COLUMNS, _LONGEST = 10, 12, 100


def table(rows: Sequence[Mapping[str, Any]], title: str) -> str:
    """The first rows of a table, without columns that are empty in all of them."""
    shown = rows[:_ROWS]
    columns = [name for name in (shown[0] if shown else ()) if any(row[name] is not None for row in shown)]
    columns, left_out = columns[:_COLUMNS], columns[_COLUMNS:]
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{_cell(row[name])}</td>" for name in columns) + "</tr>" for row in shown)
    more = f", of which {len(shown)} are shown" if len(rows) > len(shown) else ""
    if left_out:
        more += f"; not shown: {', '.join(left_out)}"
    caption = html.escape(f"{title}: {len(rows)} {'row' if len(rows) == 1 else 'rows'}{more}")
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return html.escape(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
