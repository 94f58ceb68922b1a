"""Results as Markdown."""

from cases import BYTES_PER_SECOND_ONE_CORE
from contenders import OURS
from measure import best_peer, ratio


def markdown(head, rows):
    """A table; columns are padded so that it also reads in a terminal."""
    lines = [tuple(str(cell).replace("|", "\\|") for cell in row) for row in (head, *rows)]
    widths = [max(len(row[i]) for row in lines) for i in range(len(head))]
    padded = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths)) + " |" for row in lines]
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    return "\n".join([padded[0], rule, *padded[1:]])


def seconds(value):
    """Three significant digits."""
    return "–" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def times(value):
    return "–" if value is None else f"{value:.2f} ×" if value < 10 else f"{value:.1f} ×"


def megabytes(value):
    return f"{value / 1e6:,.0f}"


def peers_of(outcome):
    return [entry for name, entry in outcome.series.items() if name != OURS]


def ratios(outcomes):
    """Ours, the best peer, the ratio, and whether the aim is met."""
    rows = []
    for outcome in outcomes:
        own = outcome.series[OURS]
        value, best = best_peer(own, peers_of(outcome))
        aim = outcome.case.aim
        met = "–" if value is None else "yes" if value >= aim else "NO"
        name = f"{best.name} {seconds(best.median)}" if best else "–"
        rows.append((outcome.title, seconds(own.median), name, times(value), times(aim), met))
    return markdown(("case", "ours, s", "best peer, s", "best peer / ours", "aim", "met"), rows)


def every_time(outcomes):
    """Median seconds of every contender, and its ratio to ours."""
    names = list(dict.fromkeys(name for o in outcomes for name in o.series))
    rows = []
    for outcome in outcomes:
        own = outcome.series[OURS]
        cells = [outcome.title]
        for name in names:
            entry = outcome.series.get(name)
            if entry is None or entry.median is None:
                cells.append("–")
            elif name == OURS or own.median is None:
                low, high = min(entry.taken), max(entry.taken)
                cells.append(f"{seconds(entry.median)} ({seconds(low)}–{seconds(high)})")
            else:
                once = " once" if len(entry.taken) == 1 else ""
                cells.append(f"{seconds(entry.median)}{once} ({times(ratio(own, entry))})")
        rows.append(cells)
    return markdown(["case", *names], rows)


def limits(outcomes):
    """How near memory traffic alone, and the memory taken."""
    rows = []
    for outcome in outcomes:
        own, case = outcome.series[OURS], outcome.case
        both, one = case.limit_seconds(), case.limit_seconds(BYTES_PER_SECOND_ONE_CORE)
        distance = times(own.median / both) if own.median else "–"
        peers = ", ".join(f"{p.name} {megabytes(p.peak_bytes)}" for p in peers_of(outcome) if p.peak_bytes)
        peak = megabytes(own.peak_bytes) if own.peak_bytes else "–"
        rows.append((outcome.title, f"{both * 1e3:.2f}–{one * 1e3:.2f}", distance, peak, peers))
    return markdown(("case", "limit, ms", "ours / lower limit", "our peak MB", "peers' peak MB"), rows)


def set_difference(facts):
    """What a peer's labels differ in, short; empty when in nothing."""
    if not facts:
        return ""
    if "error" in facts:
        return facts["error"]
    parts = []
    if facts["noise_differs"]:
        parts.append(f"noise {facts['noise_differs']}")
    if facts.get("core_differs"):
        parts.append(f"core {facts['core_differs']}")
    if facts.get("core_partition_equal") is False:
        parts.append("core clusters")
    if not parts and not facts["labels_equal"]:
        parts.append("border points only")
    return ", ".join(parts)


def verdict(facts):
    """Ours against the oracle in a word or two.

    PyPI dbscan as the oracle gives border points to any cluster that reaches them.
    """
    if facts["labels_equal"]:
        return "equal"
    same_core = facts.get("core_partition_equal") and not facts["noise_differs"]
    return "equal but border points" if same_core else "DIFFER"


def exactness(outcomes):
    """Ours against the oracle, and which peers are not exact."""
    rows = []
    for outcome in outcomes:
        facts = outcome.exact.get(OURS, {})
        if "error" in facts or not facts:
            rows.append((outcome.title, outcome.oracle, facts.get("error", "not compared"), *"–" * 5))
            continue
        clusters, noise = facts["clusters"], facts["noise"]
        core = facts.get("core_differs")
        sampled = f"{facts['sampled_wrong']} of {facts['sampled']}" if "sampled" in facts else "–"
        differing = {name: set_difference(f) for name, f in outcome.exact.items() if name != OURS}
        rows.append(
            (
                outcome.title,
                outcome.oracle,
                f"{clusters[0]} / {clusters[1]}",
                f"{noise[0]:,} / {noise[1]:,}, {facts['noise_differs']} differ",
                "labels only" if core is None else f"{facts['core']:,}, {core} differ",
                f"{verdict(facts)}, {facts['adjusted_rand']:.9g}",
                sampled,
                "; ".join(f"{name}: {text}" for name, text in differing.items() if text) or "none",
            )
        )
    head = ("case", "oracle", "clusters, ours / oracle", "noise, ours / oracle", "core")
    return markdown((*head, "labels, adjusted Rand", "wrong in a sample", "peers that differ"), rows)


def curves(outcomes):
    """The k-distance curves against the oracle's."""
    rows = []
    for outcome in outcomes:
        facts = outcome.exact.get(OURS, {})
        worst = facts.get("greatest_relative_difference")
        text = facts.get("error", "not compared") if worst is None else f"{worst:.1e}"
        rows.append((outcome.title, outcome.oracle, text))
    return markdown(("case", "oracle", "greatest relative difference of the sorted curves"), rows)


def skipped(outcomes):
    """Who sat out and why."""
    lines = []
    for outcome in outcomes:
        for entry in outcome.series.values():
            if entry.skipped:
                lines.append(f"- {outcome.title}: {entry.name}: {entry.skipped}")
    return "\n".join(lines)
