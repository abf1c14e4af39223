"""A program full of small objects: a simulated market of traders, orders and events."""

import heapq

DRAW = 1


def draw(below: int) -> int:
    global DRAW
    DRAW = DRAW * 48271 % 2147483647
    return DRAW % below


class Order:
    def __init__(self, trader: "Trader", price: int, amount: int) -> None:
        self.trader, self.price, self.amount = trader, price, amount
        self.tags = {"kind": f"k{price % 7}", "lot": [amount, price]}

    def __lt__(self, other: "Order") -> bool:
        return self.price < other.price


class Trader:
    def __init__(self, number: int) -> None:
        self.name, self.log, self.holds = f"trader {number}", [], {}

    def note(self, order: Order) -> None:
        self.log.append((order.price, order.amount, dict(order.tags)))
        self.holds[order.price] = self.holds.get(order.price, 0) + order.amount
        if len(self.log) > 40:
            del self.log[:20]


def main() -> None:
    traders = [Trader(number) for number in range(2000)]
    book: list[Order] = []
    for _ in range(120_000):
        heapq.heappush(book, Order(traders[draw(2000)], draw(9000), draw(90)))
        if len(book) > 20_000:
            taken = heapq.heappop(book)
            taken.trader.note(taken)
    print(sum(len(trader.holds) for trader in traders), len(book))


main()
