"""Makes Matplotlib's SVG files independent of the machine that draws them."""

import hashlib
import re

# A comment, which may quote a number; a scale, which needs its digits; or a coordinate.
NUMBER = re.compile(r"<!--.*?-->|\bscale\([^)]*\)|-?\b\d+\.\d{3,}\b", re.S)


def rounded(found):
    if found[0].startswith(("<", "s")):
        return found[0]
    number = f"{float(found[0]) + 1e-5:.2f}"  # never down from x.125, a frequent coordinate with an error in its last digit
    number = number.rstrip("0").rstrip(".")
    return "0" if number == "-0" else number


def stable(svg: str) -> str:
    """The same chart with coordinates in hundredths of a point, and with other ids: Matplotlib's are hashes of all digits of coordinates, the last of which differ
    between machines."""
    svg = NUMBER.sub(rounded, svg)
    for number, old in enumerate(dict.fromkeys(re.findall(r'\bid="([hmp][0-9a-f]{10})"', svg))):
        svg = svg.replace(old, f"id{number}-")
    chart = hashlib.sha256(svg.encode()).hexdigest()[:8]  # a page may contain several charts
    return re.sub(r"\bid(\d+)-", rf"id\1-{chart}", svg)
