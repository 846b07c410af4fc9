"""Draw the results of compare_llama_cpp.py as SVG: one file for each number of threads.

Each test has two bars, the length of which is the speed over the faster one's of the two, since the tests'
speeds differ by powers of ten; the figures stand at the bars. Called by compare_llama_cpp.py --svg.
"""
import html
import pathlib

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 760, 110, 190, 74, 34
BAR, GAP, PAIR = 18, 3, 56
COLOURS = {"guild": "#2b6cb0", "llama_cpp": "#b8c0cc"}
NAMES = {"guild": "guild", "llama_cpp": "llama.cpp"}
INK, FAINT = "#1f2933", "#6b7785"


def text(x, y, words, size=13, colour=INK, anchor="start", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{html.escape(words)}</text>')


def bar(x, y, length, colour):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(length, 1):.1f}" height="{BAR}" rx="2" fill="{colour}"/>'


def figure(value, unit):
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}"


def speed(one, side):
    """Larger is better: the rate, or one over the time."""
    value = one[side]["median"]
    return 1 / value if one["unit"] == "s" else value


def pair(one, top):
    """The two bars of a test, with figures and ratio."""
    fastest = max(speed(one, side) for side in NAMES)
    room = WIDTH - LEFT - RIGHT
    parts = [text(LEFT - 10, top + BAR + GAP, one["test"], anchor="end", weight="600")]
    for row, side in enumerate(NAMES):
        y = top + row * (BAR + GAP)
        length = room * speed(one, side) / fastest
        parts.append(bar(LEFT, y, length, COLOURS[side]))
        parts.append(text(LEFT + length + 6, y + BAR - 5, figure(one[side]["median"], one["unit"]), 12, FAINT))
    ratio = one["ratio"]
    parts.append(text(WIDTH - 12, top + BAR + GAP, f"{ratio['median']:.2f} ×", 16, anchor="end", weight="600"))
    spread = f"{ratio['min']:.2f} to {ratio['max']:.2f}"
    parts.append(text(WIDTH - 12, top + 2 * BAR + GAP - 2, spread, 11, FAINT, anchor="end"))
    return parts


def picture(results, threads):
    tests = [one for one in results["tests"] if one["threads"] == threads]
    height = TOP + PAIR * len(tests) + BOTTOM
    count = "1 thread" if threads == 1 else f"{threads} threads"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" role="img">',
        f"<title>guild and llama.cpp on {html.escape(results['model']['name'])}, {count}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        text(16, 28, f"{results['model']['name']}, {count}", 16, weight="600"),
    ]
    x = 16
    for side in NAMES:
        parts.append(bar(x, 40, 18, COLOURS[side]))
        parts.append(text(x + 24, 54, NAMES[side], 12, FAINT))
        x += 100
    parts.append(text(WIDTH - 12, 54, "guild's speed over llama.cpp's, smallest to largest", 11, FAINT, "end"))
    for row, one in enumerate(tests):
        parts += pair(one, TOP + row * PAIR)
    where = f"{results['machine']['processor']}, {results['date']}; longer is faster"
    parts += [text(16, height - 12, where, 11, FAINT), "</svg>"]
    return "\n".join(parts) + "\n"


def pictures(results):
    """The pictures by their files' names."""
    stem = results["model"]["name"].removesuffix(".gguf")
    threads = sorted({one["threads"] for one in results["tests"]})
    return {f"{stem}-t{count}.svg": picture(results, count) for count in threads}


def draw(results, folder):
    """Writes the pictures and returns their paths."""
    paths = []
    for name, drawn in pictures(results).items():
        path = pathlib.Path(folder) / name
        path.write_text(drawn, encoding="utf-8")
        paths.append(path)
    return paths
