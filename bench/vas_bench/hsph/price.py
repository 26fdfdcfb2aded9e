"""The price of a system, from a list that the user gives."""

from __future__ import annotations

from dataclasses import dataclass

from vas_bench.csvfile import CsvRow, CsvTable
from vas_core.errors import BadInput

_COLUMNS = ("item", "count", "price", "currency")


@dataclass(frozen=True)
class Item:
    """A line of the list: a number of things, each at a price."""

    name: str
    count: float
    price: float


@dataclass(frozen=True)
class PriceList:
    """Items in one currency."""

    currency: str
    items: tuple[Item, ...]

    @property
    def total(self) -> float:
        """The price of all items together, in the list's currency."""
        return sum(item.count * item.price for item in self.items)


def price_list(table: CsvTable) -> PriceList:
    """Reads the list from a table with columns item, count, price, currency.

    Raises BadInput with the line for a table without these, and for a second currency.
    """
    missing = [name for name in _COLUMNS if name not in table.columns]
    if missing:
        hint = f"columns {', '.join(_COLUMNS)}"
        raise BadInput(f"has no column {missing[0]}", where=table.name, hint=hint)
    currency = table.rows[0].text("currency")
    return PriceList(currency, tuple(_item(row, currency) for row in table.rows))


def _item(row: CsvRow, currency: str) -> Item:
    if row.text("currency") != currency:
        text = f"{row.text('currency')} among {currency}"
        raise BadInput(text, where=row.where, hint="one currency in a list")
    return Item(row.text("item"), row.number("count"), row.number("price", above_zero=False))
