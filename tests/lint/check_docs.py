#!/usr/bin/env python3
"""Documents have an order, and tables are short. Prints file:line of
- a page below docs/ that its index, docs/README.md, has no line for, or two, or that is not there;
- a page that does not say in its first sentence for whom it is and what comes after it;
- a row of a table that is wider than a reader takes in at once.

usage: check_docs.py SOURCE_DIR      exit 0 clean, 1 with findings
"""
import glob
import os
import re
import sys

INDEX = "docs/README.md"
ROW = {"docs/open.md": 200}  # columns of a row; what explains stands below the table, or in the page of the part
ROW_ELSEWHERE = 270
FIRST = re.compile(r"^For .*;\s+after\s+it\s", re.S)


def index_findings(text, pages):
    found, lines = [], re.findall(r"(?m)^- `(docs/[^`]+)`: ", text)
    for page in pages:
        if lines.count(page) != 1:
            found.append(f"{INDEX}:1: {page} has {lines.count(page)} lines")
    return found + [f"{INDEX}:1: {line} is no page" for line in lines if line not in pages]


def page_findings(name, text):
    found = []
    paragraphs = text.split("\n\n")
    if not text.startswith("# ") or len(paragraphs) < 2 or not FIRST.match(paragraphs[1]):
        found.append(f"{name}:3: say in one sentence for whom this page is, what comes before and what after it")
    return found


def row_findings(name, text):
    limit = ROW.get(name, ROW_ELSEWHERE)
    return [f"{name}:{n}: a row of {len(line)} columns, {limit} at most: let the cell name it and a sentence below explain it"
            for n, line in enumerate(text.split("\n"), 1) if line.startswith("|") and len(line) > limit]


def self_test(findings):
    """The checker itself must be able to fail."""
    got = index_findings("- `docs/a.md`: x\n- `docs/b.md`: y\n- `docs/b.md`: z", ["docs/a.md", "docs/b.md", "docs/c.md"])
    got += index_findings("- `docs/gone.md`: x", [])
    got += page_findings("docs/a.md", "# A\n\nFor whoever; before it comes B; after it C.\n\n| a |")
    got += page_findings("docs/a.md", "# A\n\nThe first thing.\n")
    got += row_findings("docs/open.md", "| " + "x" * 200 + " |\nx" + "y" * 300 + "\n| a |")
    if len(got) != 5:
        findings.append(f"self-test: read as {got}")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    top, findings = sys.argv[1], []
    self_test(findings)

    def text_of(name):
        with open(os.path.join(top, name), encoding="utf-8") as f:
            return f.read()

    pages = sorted(os.path.relpath(p, top) for p in glob.glob(os.path.join(top, "docs/*.md")) + glob.glob(os.path.join(top, "docs/**/README.md"), recursive=True))
    pages = [p for p in dict.fromkeys(pages) if p != INDEX]
    findings += index_findings(text_of(INDEX), pages)
    if INDEX not in text_of("README.md"):
        findings.append(f"README.md:1: does not name {INDEX}")
    for page in pages:
        if not page.startswith("docs/examples/"):
            findings += page_findings(page, text_of(page))
    for page in pages + ["README.md", "HACKING.md"]:
        findings += row_findings(page, text_of(page))
    print("\n".join(findings) or f"docs: {len(pages)} pages")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
