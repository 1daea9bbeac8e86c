"""Words that must not return: each row is a private word of earlier versions and the field's term that replaced it.

    python3 tests/course/test_words.py docs/start.md simulator

lists them in files and folders; without arguments, in everything that git tracks, as make lint does."""

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = "*.md *.py *.c *.h *.cu *.cuh *.js *.html *.css *.mk *.sh *.toml *.yml *.cff *.1 *.ipynb Makefile Dockerfile".split()
PAGES = "*.md"
CODE = "simulator/*"
LAYERS = " ".join(f"simulator/{layer}/*" for layer in ("base", "front", "machine", "checker", "runtime", "driver", "page"))

# pattern (case is ignored; "_" ends a word, too), what to write instead, and where: all texts unless named.
WORDS = [
    (r"nobody|whoever", "name the actor", None),
    (r"stray (access|address|pointer|read|write)\w*", "out-of-bounds access", None),
    (r"behind", "after (in time), past (an end), below (a condition)", None),
    (r"wrong side", "wrong copy direction; host pointer dereferenced on the device", None),
    (r"barrier misuse|misuses? of (a|an|the) (barrier|operation)\w*", "barrier divergence; invalid warp-level operation", None),
    (r"mend(s|ed|ing)?", "fix", None),
    (r"in (the )?place of", "instead of", None),
    (r"tells?|told|telling", "reports, is reported, says, shows", None),
    (r"accus\w+|innocents?", "false positive; is flagged", None),
    (r"lanes? (are |is |that are )?(on|off)", "active lanes, inactive lanes", None),
    (r"(a|each|every|one|per|next|last|first|second|this|that|same|other|the|two|three|four|many|its|of) turns?(?! (into|out|on|off|it))", "iteration (of a loop); wavefront (of shared memory)", None),
    (r"their places|places? (on|of) (a|an|each|the|every|its) (SM|multiprocessor)", "block slot; block-slot limit", None),
    (r"life|lives", "block duration; for a file or a text: is in", None),
    (r"what holds", "bottleneck; memory-bound, latency-bound", None),
    (r"copy engines?", "TMA, bulk asynchronous copy", None),
    (r"copiers?", "producer warp", None),
    (r"roles?", "warp specialisation; producer and consumer warps", "*.md *.cu"),
    (r"the queue", "dynamic tile scheduler; work queue, if it is one", "scan/*"),
    (r"helping", "decoupled fallback", "scan/*"),
    (r"middle hal(f|ves)", "interquartile range", None),
    (r"barriers open", "barriers passed", None),
    (r"touched before", "accessed earlier", None),
    (r"moments?", "step (of the player)", "book/*"),
    (r"house|(?<!\.)floors?(?![({])", "repository; layer", "*.md *.py"),
    (r"book/stage|stage\.js|the stage", "the player", None),
    (r"told along", "released, acquired", None),
    (r"so is (a|an|the)", "say it in English word order", "*.md"),
    (r"gates?", "optimise", "exercises/* drywarp/learn/* docs/*"),
    (r"wants (to be )?\w+ing", "needs", None),
    # Names in the code
    (r"sim_(lanes_know|warp_knows|has_awaited|is_asked|hear_entry|joined|arrive_at_log|acquire_log|put_off|catch_up|find_joins|gather|meet)",
     "hb_all_lanes, hb_warp_fast, is_spin_read, feeds_branch, apply_release, history_join, sync_release, sync_acquire, defer_read, "
     "flush_deferred, find_reconvergence, converge_wait, converge_execute", CODE),
    (r"(?-i:Knower|Timeline|EpochKind)", "ClockSnapshot, StreamClock, RecordKind", CODE),
    (r"(?-i:NOWHERE|VARIES|SETS_FIRST|Grouping|LaunchTree)|launch trees?|sim_(has_part|part_among|load_texts|note_kernels|add_to_speed)",
     "NO_OFFSET, NO_INDEX; NONDETERMINISTIC, WRITES_DESTINATION; LaunchAttributes; nested launch; a verb and its object", CODE),
    (r"out of memory for", "out of memory: and what it was for", LAYERS),
    (r"(?-i:(MOST|FEWEST|LEAST)_[A-Z]+)", "MAX_, MIN_", "labs/* scan/* scripts/* step*"),
    (r"(draws?|drawn|drew) (a|the next|its) (tile|ticket|index)", "takes", "scan/*"),
    (r"an edge of", "n x n matrix; width", "labs/*"),
    (r"(?-i:race-host|launch-fault)|platform_plain|ptx_run_plain|rowscale-peers", "race-operations, kernel-fault; platform_minimal; rowscale-pytorch", None),
    (r"(gaps|stuck|rounds|(?<!cas_)guesses|idle)\.[ch]", "redzones.c, deadlock.c, livelock.c, cas_guesses.c, skipped_blocks.c", None),
]
RULES = [(re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])", re.I), instead, where.split() if where else TEXT) for pattern, instead, where in WORDS]
# What holds the words as data: this list, and texts that are others'.
EXEMPT = ["tests/course/test_words.py", "tests/mistakes/before_and_after.md", "LICENSE", "book/*/programs/*", "*/third_party/*"]


def tracked(paths=()):
    """The text files of the repository, or those of them in some folders, relative to its top."""
    listed = subprocess.run(["git", "ls-files", "--", *paths], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [name for name in listed if name and any(fnmatch(Path(name).name, kind) for kind in TEXT)
            and not any(fnmatch(name, kind) for kind in EXEMPT) and (ROOT / name).is_file()]


def banned(name, text):
    """Every banned word of a text as (line, word, what to write instead)."""
    rules = [(pattern, instead) for pattern, instead, where in RULES if any(fnmatch(name, kind) or fnmatch(Path(name).name, kind) for kind in where)]
    return sorted((text.count("\n", 0, found.start()) + 1, found.group(), instead) for pattern, instead in rules for found in pattern.finditer(text))


def listing(paths=()):
    return [f"{name}:{line}: {word!r}: {instead}" for name in tracked(paths)
            for line, word, instead in banned(name, (ROOT / name).read_text(encoding="utf-8", errors="replace"))]


def test_a_banned_word_is_found():
    """Broken: a pattern that matches nothing."""
    assert [word for _, word, _ in banned("docs/x.md", "read behind_the end\nNobody wrote it")] == ["behind", "Nobody"]
    assert not banned("docs/x.md", "past the end, after the barrier, in turn")


if __name__ == "__main__":
    print("\n".join(listing(sys.argv[1:])))
