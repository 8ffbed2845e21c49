"""Measure the structure of the source package, so that two revisions can be compared by the same rules.

    python -m tests.house [--root DIR] [--json] [--names]
    python -m tests.house --trace [--root DIR] [--json] [--names]

Everything but `--trace` reads source files and imports none of them, whatever the layout of the package: the few names
that the measures need stand in the tables below. `--root` is another checkout, `--names` prints every offender instead
of the first few, and `--trace` runs one alert through the playground (see `tests/house_trace.py`).
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.house_sources import (
    Function,
    Source,
    components,
    count_code_lines,
    count_comments,
    docstring_lines,
    functions_of,
    import_graph,
    imported,
    longest_chain,
    name_of,
    origin_of,
    read_sources,
)

PACKAGE = "bot"
TESTS = "tests"
ROOMS = f"{PACKAGE}.workflows"  # what lies in it may not import its siblings
CALLBACKS = re.compile(r"__\w+__|pytest_\w+|visit_\w+|do_[A-Z]+")  # names that Python or a library asks for
LONG_FUNCTION, LONG_CLASS = 60, 200
NOUN_DOCSTRINGS = ("What", "Whether", "The", "A", "An")
FEW = 10

Report = dict[str, dict[str, Any]]


def words(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(text.split())


# What counts as a participle or a gerund is the first word of a name, without leading underscores: one that ends in -ed
# or -ing, or an irregular participle, also behind un-, re-, fore- or over-. Not counted are verbs whose participle looks like
# their base form (read, put, set, cut, let, run, come, split, shut, reset: they are not in the list).
IRREGULAR = words(
    "been begun bent born borne bought bound broken brought built caught chosen dealt done drawn driven drunk dug "
    "eaten fallen fed felt forbidden forgotten fought found frozen given gone got gotten grown had heard held hidden hung kept "
    "known laid lain led left lent lit lost made meant met mistaken paid proven risen said sat seen sent shaken shown "
    "slept sold sought spelt spent spoken stolen stood struck stuck sung sunk swept sworn taken taught thought thrown told torn "
    "understood withdrawn woken won worn written"
)
PREFIXES = ("", "un", "re", "fore", "over")
# Words with such an ending that are verbs in their base form, or nouns of the field.
NOT_PARTICIPLES = words(
    "bed bleed breed embed exceed feed heed need proceed red seed shed speed succeed weed "
    "anything bring cling during embedding evening everything heading king mapping meaning morning nothing ping ring setting sing sling "
    "something spring sting string swing thing timing warning wing wording"
)
PREPOSITIONS = words("of in for at to by from with on")

# --- sizes ---


def measure_files(sources: list[Source]) -> dict[str, Any]:
    """Count files per folder, lines, code lines, comments and docstring lines."""
    folders = Counter(s.folder for s in sources if s.is_module)
    total = sum(s.lines for s in sources)
    comments = sum(count_comments(s) for s in sources)
    docstrings = sum(len(docstring_lines(s)) for s in sources)
    flattest, most = folders.most_common(1)[0]
    return {
        "source files": len(sources),
        "modules": sum(folders.values()),
        "lines": total,
        "code lines": sum(count_code_lines(s) for s in sources),
        "docstring lines": docstrings,
        "comments": comments,
        "comments per 1,000 lines": round(1000 * comments / total, 1),
        "flattest folder": f"{flattest} ({most})",
        "folders with over 20 modules": sum(1 for n in folders.values() if n > 20),
        "modules per folder": [f"{name} {n}" for name, n in folders.most_common()],
    }


def measure_any(sources: list[Source]) -> dict[str, Any]:
    """Count the uses of `Any` (not its import) per 1,000 lines, whole and by top-level package."""
    uses: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for source in sources:
        lines[source.top] += source.lines
        uses[source.top] += sum(1 for n in source.nodes if name_of(n) in {"Any", "typing.Any"})
    rates = {top: round(1000 * uses[top] / max(lines[top], 1), 1) for top in sorted(lines)}
    return {
        "Any": uses.total(),
        "Any per 1,000 lines": round(1000 * uses.total() / lines.total(), 1),
        "by package": [f"{top} {rate}" for top, rate in rates.items() if rate],
    }


# --- imports ---


def measure_imports(sources: list[Source]) -> dict[str, Any]:
    """Measure the import graph: edges, the longest chain, cycles, fan-in, and imports between sibling rooms."""
    graph = import_graph(sources)
    fan_in = Counter(target for targets in graph.values() for target in targets)
    rings = [ring for ring in components(graph) if len(ring) > 1]
    chain = longest_chain(graph)
    between = sorted(f"{a} -> {b}" for a, targets in graph.items() for b in targets if crosses(a, b))
    return {
        "imports per file": round(statistics.mean(len(targets) for targets in graph.values()), 1),
        "longest chain": len(chain),
        "import cycles": len(rings),
        f"imports between siblings in {ROOMS}": len(between),
        "highest fan-in": [f"{name} {n}" for name, n in fan_in.most_common(10)],
        "chain": chain,
        "between siblings": between,
    }


def crosses(source: str, target: str) -> bool:
    """Tell whether an import goes from one room to another."""
    inside = f"{ROOMS}."
    if not (source.startswith(inside) and target.startswith(inside)):
        return False
    return source.removeprefix(inside).split(".")[0] != target.removeprefix(inside).split(".")[0]


# --- names ---


def repeated(places: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return the names that occur in two or more places, the most frequent first."""
    counts = Counter(name for name, _ in places)
    return {name: n for name, n in counts.most_common() if n > 1}


def measure_homonyms(sources: list[Source]) -> dict[str, Any]:
    """Count module, class and type-alias names that are used twice or more."""
    modules = repeated((s.name.rpartition(".")[2], s.path) for s in sources if s.is_module)
    classes = repeated((n.name, s.path) for s in sources for n in s.nodes if isinstance(n, ast.ClassDef))
    aliases = repeated((name, s.path) for s in sources for name in alias_names(s))
    return {
        "module names in two or more packages": len(modules),
        "class names defined twice or more": len(classes),
        "of these public": sum(1 for name in classes if not name.startswith("_")),
        "type aliases defined twice or more": len(aliases),
        "modules": [f"{name} {n}" for name, n in modules.items()],
        "classes": [f"{name} {n}" for name, n in classes.items()],
        "aliases": [f"{name} {n}" for name, n in aliases.items()],
    }


def alias_names(source: Source) -> Iterator[str]:
    """Yield the type aliases of a module: `Name = <type expression>` with a name in CapWords, or marked as one."""
    for node in source.tree.body:
        if isinstance(node, ast.AnnAssign) and name_of(node.annotation).endswith("TypeAlias"):
            yield name_of(node.target)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp | ast.Name):
            yield from (n for t in node.targets if re.fullmatch(r"_?[A-Z]\w*[a-z]\w*", n := name_of(t)))


def is_participle(word: str) -> bool:
    """Tell whether a word is a participle or a gerund, by the tables above."""
    if word in NOT_PARTICIPLES:
        return False
    regular = len(word) > 3 and word.endswith(("ed", "ing"))
    return regular or any(word.startswith(p) and word.removeprefix(p) in IRREGULAR for p in PREFIXES)


def measure_names(sources: list[Source]) -> dict[str, Any]:
    """Count the functions whose name begins with a participle or a gerund, or ends in a preposition."""
    named = [(f"{s.path}:{f.lineno} {f.name}", f.name) for s in sources for f in functions_of(s)]
    named = [(place, name) for place, name in named if not CALLBACKS.fullmatch(name)]
    parted = [(place, name.strip("_").lower().split("_")) for place, name in named]
    participles = [place for place, parts in parted if is_participle(parts[0])]
    prepositions = [place for place, parts in parted if len(parts) > 1 and parts[-1] in PREPOSITIONS]
    either = {*participles, *prepositions}
    anywhere = {place for place, parts in parted if any(map(is_participle, parts))} | either
    return {
        "function names": len(parted),
        "begin with a participle or gerund": len(participles),
        "of these gerunds": sum(1 for _, parts in parted if is_participle(parts[0]) and parts[0].endswith("ing")),
        "share of participles (%)": percent(len(participles), len(parted)),
        "end in a preposition": len(prepositions),
        "share of prepositions (%)": percent(len(prepositions), len(parted)),
        "share of either (%)": percent(len(either), len(parted)),
        "share with a participle anywhere, or either (%)": percent(len(anywhere), len(parted)),
        "participles": participles,
        "prepositions": prepositions,
    }


def percent(part: int, whole: int) -> float:
    """Return a share in percent, with one digit."""
    return round(100 * part / max(whole, 1), 1)


# --- functions and docstrings ---


def length(node: Function | ast.ClassDef) -> int:
    """Count the lines of a definition, without its decorators."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def measure_lengths(sources: list[Source]) -> dict[str, Any]:
    """Measure how long functions and classes are."""
    functions = {f"{s.path}:{f.lineno} {f.name}": length(f) for s in sources for f in functions_of(s)}
    classes = {
        f"{s.path}:{c.lineno} {c.name}": length(c) for s in sources for c in s.nodes if isinstance(c, ast.ClassDef)
    }
    return {
        "functions": len(functions),
        "median function": statistics.median(functions.values()),
        "longest function": max(functions.values()),
        f"functions over {LONG_FUNCTION} lines": sum(1 for n in functions.values() if n > LONG_FUNCTION),
        "classes": len(classes),
        "longest class": max(classes.values()),
        f"classes over {LONG_CLASS} lines": sum(1 for n in classes.values() if n > LONG_CLASS),
        "longest": [f"{place} {n}" for place, n in Counter(functions | classes).most_common(10)],
    }


def measure_docstrings(sources: list[Source]) -> dict[str, Any]:
    """Count the docstrings that begin as a noun phrase: of functions, which want an imperative, and with those of classes."""
    first = first_words(node for s in sources for node in functions_of(s))
    classes = first_words(node for s in sources for node in s.nodes if isinstance(node, ast.ClassDef))
    nouns = {f'begin with "{word}"': first[word] for word in NOUN_DOCSTRINGS}
    return {
        "docstrings of functions": first.total(),
        **nouns,
        "share of these (%)": percent(sum(nouns.values()), first.total()),
        "docstrings of functions and classes": (first + classes).total(),
        **{f'functions and classes: begin with "{word}"': (first + classes)[word] for word in NOUN_DOCSTRINGS},
        "first words": [f"{word} {n}" for word, n in first.most_common(30)],
    }


def first_words(nodes: Iterable[Function | ast.ClassDef]) -> Counter[str]:
    """Count the first words of docstrings."""
    return Counter(text.split()[0].rstrip(",.:;") for node in nodes if (text := ast.get_docstring(node)))


# --- tests ---


def measure_tests(tests: list[Source], known: set[str]) -> dict[str, Any]:
    """Count the places where tests replace parts of our modules, and helpers imported from other test modules."""
    replaced = [place for s in tests for place in replaced_in(s, known)]
    borrowed = [
        f"{s.path}:{n.lineno} {origin}"
        for s in tests
        for n in s.nodes
        if isinstance(n, ast.ImportFrom)
        for origin in [f"{origin_of(n, s)}.{n.names[0].name}"]
        if re.match(rf"{TESTS}\.(\w+\.)*test_\w+", origin)
    ]
    return {
        "setattr on our modules": len(replaced),
        "imports from test modules": len(borrowed),
        "replaced": replaced,
        "borrowed": borrowed,
    }


def replaced_in(source: Source, known: set[str]) -> Iterator[str]:
    """Yield the calls `….setattr(target, …)` whose target is one of our modules, or a string that names a part of one."""
    bound = imported(source, known)
    for node in source.nodes:
        if isinstance(node, ast.Call) and name_of(node.func).endswith(".setattr") and node.args:
            first, *others = [*map(literal_of, node.args), ""]
            target, part = (first, "") if first else (bound.get(name_of(node.args[0]), ""), f".{others[0]}")
            if target.startswith(f"{PACKAGE}.") and ":" not in target:
                yield f"{source.path}:{node.lineno} {target}{part}"


def literal_of(node: ast.AST) -> str:
    """Return the string that an expression spells out, or nothing."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


# --- the command ---


def measure(root: Path) -> Report:
    """Measure one checkout."""
    sources, tests = read_sources(root, PACKAGE), read_sources(root, TESTS)
    sections: dict[str, Callable[[list[Source]], dict[str, Any]]] = {
        "files": measure_files,
        "imports": measure_imports,
        "homonyms": measure_homonyms,
        "function names": measure_names,
        "lengths": measure_lengths,
        "Any": measure_any,
        "docstrings": measure_docstrings,
    }
    report = {title: section(sources) for title, section in sections.items()}
    return report | {"tests": measure_tests(tests, {s.name for s in sources})}


def trace(root: Path) -> Report:
    """Run one alert through the playground of a checkout, in a process of its own."""
    script = Path(__file__).with_name("house_trace.py")
    done = subprocess.run(
        [sys.executable, "-P", str(script)],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: Report = json.loads(done.stdout)
    return found


def render(report: Report, *, names: bool) -> Iterator[str]:
    """Yield the lines of the table; of a list only the first few items unless all names are wanted."""
    for title, measures in report.items():
        yield f"\n{title}"
        for label, value in measures.items():
            if not isinstance(value, list):
                yield f"  {label:<48}{value:>24,}" if isinstance(value, int) else f"  {label:<48}{value:>24}"
                continue
            shown = value if names else value[:FEW]
            yield f"  {label}" + (f" (first {FEW} of {len(value)})" if len(shown) < len(value) else "")
            yield from (f"      {item}" for item in shown)


def main() -> None:
    """Print the measures of a checkout."""
    parser = argparse.ArgumentParser(prog="python -m tests.house", description="Measure the structure of the source.")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the checkout to measure")
    parser.add_argument("--json", action="store_true", help="print JSON with every name")
    parser.add_argument("--names", action="store_true", help="print every name of a list")
    parser.add_argument("--trace", action="store_true", help="run one alert and count what is executed")
    options = parser.parse_args()
    report = (trace if options.trace else measure)(options.root.resolve())
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print("\n".join(render(report, names=options.names)).lstrip("\n"))


if __name__ == "__main__":
    main()
