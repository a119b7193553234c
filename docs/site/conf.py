"""The documentation site, made from the documents where they are.

The folder that Sphinx reads is the repository itself, so links between documents work as they do in
a checkout. docs/README.md is the first page, and its lists are the navigation.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
package = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]

project = "Almanack"
author = package["authors"][0]
copyright = author
version = release = package["version"]

extensions = ["myst_parser"]
root_doc = "docs/README"
include_patterns = ["*.md", "docs/**.md", "deploy/*/README.md", "examples/*/README.md", "clients/*/README.md"]
exclude_patterns = ["target", "crates", "fuzz", "e2e", "**/node_modules", "**/.*"]
source_suffix = {".md": "markdown"}
# Documents are read on GitHub, too: no syntax of ours, and the same names of headings.
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"Almanack {version}"
html_copy_source = False
html_show_sphinx = False
html_extra_path = ["index.html"]


def navigation(_app, name, content):
    """Adds the lists of the first page to the navigation, under their headings."""
    if name != root_doc:
        return
    for part in content[0].split("\n## ")[1:]:
        pages = [page for page in re.findall(r"\]\(([^):]+)\.md\)", part)]
        entries = [page if not page.startswith("adr/") else "adr/*" for page in pages]
        content[0] += "\n```{toctree}\n:hidden:\n:glob:\n:caption: " + part.splitlines()[0] + "\n\n"
        content[0] += "\n".join(entries) + "\n```\n"


def setup(app):
    app.connect("source-read", navigation)
