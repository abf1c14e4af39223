"""Writes the inputs of whole programs that are too long to keep: python3 inputs.py KIND >FILE.

The same bytes each time: everything random is drawn by one small generator.
"""

import sys
from collections.abc import Iterator


def draws(seed: int) -> Iterator[int]:
    """Yield numbers below 2^31 - 1 (Lehmer's generator): no library's own may change them."""
    while True:
        seed = seed * 48271 % 2147483647
        yield seed


RANDOM = draws(14)


def draw(below: int) -> int:
    return next(RANDOM) % below


def term(depth: int) -> str:
    """Return an expression of C."""
    if depth == 0:
        return ["a", "b", "v[i & 15]", "n->key", str(draw(1000) + 1)][draw(5)]
    left, right = term(depth - 1), term(depth - 1)
    return f"({left} {['+', '-', '*', '^', '|', '&'][draw(6)]} {right})"


def c_function(number: int) -> str:
    cases = "".join(f"    case {k}: a += {term(2)}; break;\n" for k in range(draw(6) + 3))
    return f"""
static int f{number}(struct node *n, int a, int b) {{
  int v[16], i;
  for (i = 0; i < 16; i++) v[i] = {term(2)};
  while (n) {{
    switch ((n->key + b) & 7) {{
{cases}    default: b ^= {term(3)};
    }}
    for (i = 0; i < (a & 63); i++) if ({term(2)} > {term(1)}) b += {term(2)}; else a -= v[i & 15];
    {f"a += f{draw(number)}(n->next, b, a);" if number else ""}
    n = b & 1 ? n->left : n->next;
  }}
  return a + b;
}}"""


def c_source() -> None:
    print("struct node { struct node *left, *next; int key; };")
    for number in range(60):
        print(c_function(number))
    calls = " + ".join(f"f{k}(n, a, {k})" for k in range(60))
    print(f"int all(struct node *n, int a) {{ return {calls}; }}")


def page() -> None:
    """A picture in PostScript: text, filled curves, an image, on eight pages."""
    print("%!PS")
    for number in range(8):
        print("/Times-Roman findfont 9 scalefont setfont")
        for line in range(90):
            words = " ".join(f"w{draw(90000)}" for _ in range(16))
            print(f"40 {800 - line * 8.5} moveto ({words}) show")
        for _ in range(900):
            x, y, r = draw(550), draw(780), draw(40) + 3
            ends = " ".join(f"{x + draw(2 * r) - r} {y + draw(2 * r) - r}" for _ in range(3))
            shade = " ".join(f"0.{draw(10)}" for _ in range(3))
            print(f"{shade} setrgbcolor newpath {x} {y} moveto {ends} curveto closepath fill")
        print("showpage" if number < 7 else "showpage quit")


def formula() -> None:
    """Bit vectors for a solver: products that must not be what they cannot be."""
    print("(set-logic QF_BV)")
    for k in range(12):
        print(f"(declare-const a{k} (_ BitVec 20))(declare-const b{k} (_ BitVec 20))")
        print(f"(assert (= (bvmul a{k} b{k}) (_ bv{2 * draw(500000) + 1} 20)))")
        print(f"(assert (bvult a{k} (_ bv{900 + draw(100)} 20)))(assert (bvugt a{k} (_ bv1 20)))")
        if k:
            print(f"(assert (= (bvand b{k} (_ bv15 20)) (bvand b{k - 1} (_ bv15 20))))")
    print("(check-sat)")


def scene() -> None:
    """Spheres and boxes, each with a texture of its own, for povray."""
    print("camera { location <0,4,-14> look_at <0,0,0> }")
    print("light_source { <9,20,-15> rgb 1 } light_source { <-9,9,-9> rgb 0.4 }")
    for _ in range(4000):
        x, y, z = (draw(1600) / 100 - 8 for _ in range(3))
        colour = f"rgb <{draw(10) / 10},{draw(10) / 10},{draw(10) / 10}>"
        shape = (
            f"sphere {{ <{x},{y},{z}>, {draw(30) / 100 + 0.05}"
            if draw(2)
            else f"box {{ <{x},{y},{z}>, <{x + 0.3},{y + 0.2},{z + 0.3}> rotate {draw(90)}*y"
        )
        finish = "normal { bumps 0.3 }" if draw(3) == 0 else "finish { phong 0.6 }"
        print(f"{shape} texture {{ pigment {{ {colour} }} {finish} }} }}")


if __name__ == "__main__":
    {"c": c_source, "ps": page, "smt2": formula, "pov": scene}[sys.argv[1]]()
