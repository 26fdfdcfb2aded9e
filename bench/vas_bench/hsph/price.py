"""The price of a system, from a list that the user gives."""

from __future__ import annotations

from dataclasses import dataclass

from vas_bench.csvfile import CsvRow, CsvTable
from vas_core.errors import BadInput

_COLUMNS = ("item", "count", "price", "currency")


@dataclass(frozen=True)
class PriceList:
    """The price of all items together, in their one currency."""

    currency: str
    total: float


def price_list(table: CsvTable) -> PriceList:
    """Reads the list from a table with columns item, count, price, currency.

    Raises BadInput with the line for a table without these, and for a second currency.
    """
    missing = [name for name in _COLUMNS if name not in table.columns]
    if missing:
        hint = f"columns {', '.join(_COLUMNS)}"
        raise BadInput(f"has no column {missing[0]}", where=table.name, hint=hint)
    currency = table.rows[0].text("currency")
    return PriceList(currency, sum(_price(row, currency) for row in table.rows))


def _price(row: CsvRow, currency: str) -> float:
    if row.text("currency") != currency:
        text = f"{row.text('currency')} among {currency}"
        raise BadInput(text, where=row.where, hint="one currency in a list")
    row.text("item")  # without a name a line is not known again
    return row.number("count") * row.number("price", above_zero=False)
