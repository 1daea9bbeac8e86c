"""Gives each page a content security policy: it loads only the book's own files, and sends nothing.

`file:` is for pages from a disk, where 'self' matches nothing. The simulator is WebAssembly in a Worker that is made of a Blob."""

import base64
import hashlib
import re
from pathlib import Path

POLICY = ("default-src 'none'; script-src 'self' file: 'wasm-unsafe-eval'{hashes}; worker-src blob:; style-src 'self' file: 'unsafe-inline'; "
          "img-src 'self' file: data: blob:; font-src 'self' file: data:; form-action 'self' file:; base-uri 'none'")
INLINE = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.S)


def hash_of(script):
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def with_policy(page):
    """The page's HTML with its policy, which names the scripts that the page itself contains."""
    hashes = "".join(f" 'sha256-{each}'" for each in sorted({hash_of(script) for script in INLINE.findall(page)}))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{POLICY.format(hashes=hashes)}">'
    return re.sub(r"<head[^>]*>", lambda head: head[0] + meta, page, count=1)


def write_policies(app, error):
    if error or app.builder.name != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        if "Content-Security-Policy" not in page:  # Sphinx writes only pages that changed
            path.write_text(with_policy(page), encoding="utf-8")


def setup(app):
    app.connect("build-finished", write_policies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
