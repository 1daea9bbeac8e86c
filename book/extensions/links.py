"""Links to source files and folders lead to their pages."""

import os

from sphinx import addnodes


def lead_to_pages(app, doctree):
    folder = os.path.dirname(app.env.docname)
    for link in doctree.findall(addnodes.pending_xref):
        if link["reftype"] != "myst" or link.get("refdomain"):
            continue
        path = os.path.normpath(os.path.join(folder, link["reftarget"]))
        for page in (path, f"{path}/folder"):
            if page in app.env.found_docs:
                link["refdomain"], link["reftarget"], link["reftargetid"] = "doc", page, None


def setup(app):
    app.connect("doctree-read", lead_to_pages, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
