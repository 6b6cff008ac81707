"""Sphinx settings: Markdown pages, API reference from docstrings."""

from importlib.metadata import version as installed_version

project = "Profet"
author = "The Profet authors"
project_copyright = "2026, The Profet authors"
version = release = installed_version("profet-latency")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Profet"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["jax", "keras"]  # what captures of them import; their environments are the tests' own
autodoc_typehints = "signature"
nitpicky = False
