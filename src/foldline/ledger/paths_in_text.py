"""Paths in a text: of files and directories, with slashes or by their extension, Unix and Windows.

Knows only words; `found_in_text` splits them. A line number behind a path is no part of it (`numbers_in_text` keeps
`bar.py:88`), and an address of the web is an identifier.
"""

from __future__ import annotations

import re

from msgspec import Struct

from foldline.ledger.shapes import classes_of

PATH_CHARS_MAX = 512
"""A longer run is data, not a path (PATH_MAX is 4,096, but no path of a project comes near)."""
_SEGMENT_CHARS_MAX = 80
"""A longer segment with neither dot, hyphen nor underscore is base64."""

_RUN = re.compile(r"([\w.@+~$%/-]+)([>(:]?)")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s\"'<>`|{}]*")
_WITH_SIGNS = re.compile(
    r"(?<![\w.@+~$%/=,-])(?>(?:[\w.@+~$%-]{0,80}/){1,40})[\w.@+~-]{0,80}=[\w.@+~=,-]{0,200}\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w.@+~$%/=,-])"
)
"""A path whose last name holds `=`: `configs/E=8,N=14336.json`."""
_WINDOWS = re.compile(r"(?:[A-Za-z]:|\.{1,2}|\\)\\{1,2}[\w.$+~-][\w.$+~\\-]*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_MIXED_HEAD = re.compile(r"^[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?=[A-Za-z0-9_.@~-])")
_MIXED_END = re.compile(r"(\.[A-Za-z0-9]{1,8})[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af].*")
GIT = ".git/"
"""A path that holds this may be in what git keeps for itself."""
_GIT_STORE = re.compile(
    r"(?:^|/)\.git/(?:objects|refs|logs|info|rr-cache|lfs)(?:/|$)|(?:^|/)\.git/hooks/.{1,60}\.sample$"
)
"""What git keeps for itself: a listing of it names nothing that anybody asks for by name."""
_LETTER = re.compile(r"[^\W\d_]")

EXTENSIONS = frozenset(
    "adoc asm astro avif awk bash bat bib bin bmp bz2 c cc cfg cjs class clj cmake cmd conf cpp cs csproj css csv cts "
    "cu cuh cxx dart db diff doc docx dockerfile dll ejs env eot erb erl ex exe exs fish fs gif go gql gradle graphql "
    "groovy gz h hbs hcl hpp hs htm html hxx ico idea ini ipynb jar java jl jpeg jpg js json json5 jsonl jsx kt kts "
    "less lock log lua map md mdx mjs ml mp3 mp4 mts nix otf parquet patch pb pdf php pkl pl png po pptx properties "
    "proto ps1 psd pt pth py pyc pyi pyx rb rs rst rtf safetensors sass scala scss sh so sol sql sqlite srt svelte "
    "svg swift tar tex tf tfvars tgz toml traj ts tsx tsv ttf txt vim vue wasm wav webm webp whl woff woff2 xls xlsx "
    "xml yaml yml zig zip zsh bz0 h0 json0 mp0 ps0 woff0".split()
)
"""What files have behind the last dot, in lower case; with zeros for digits where the shape of a word is read."""
_EXTENSION = re.compile(r"\w\.[A-Za-z]|\.[a-z]{3,}")
NAMES = frozenset(
    "Makefile Dockerfile Containerfile Jenkinsfile Procfile Vagrantfile Gemfile Rakefile Brewfile LICENSE README "
    "CHANGELOG CODEOWNERS .gitignore .gitattributes .dockerignore .npmrc .nvmrc .env .editorconfig .prettierrc "
    ".eslintrc .bashrc .zshrc .profile".split()
)
NAME_CLASSES = frozenset(map(classes_of, NAMES))
_PRODUCTS = frozenset(
    "node.js next.js vue.js nuxt.js express.js react.js three.js d3.js d0.js chart.js asp.net".split()
)
_SELVES = ("self", "this", "cls")
_ROOTS = frozenset(
    "app apps assets bin boot build cmd components config core data deploy dev dist doc docs etc examples home include "
    "internal lib libs media mnt node_modules opt out packages pages pkg private proc public repo root run sbin "
    "scripts server src srv static sys target templates test testbed tests tmp tools usr utils var vendor workspace".split()
)


class PathForm(Struct, frozen=True, kw_only=True, gc=False):
    """Where the only path stands that words of some classes may have, by its extension."""

    start: int
    dot: int
    end: int
    has_folders: bool
    """With one of `EXTENSIONS` it is one; any other is none where it has no folders."""


def key_of(path: str) -> str:
    """What makes two spellings the same path."""
    if "\\" in path:
        return path.replace("\\\\", "\\")
    if path.startswith(("./", "a/", "b/")):
        path = path.removeprefix("./")
        if path.startswith(("a/", "b/")) and len(path) > 4:
            path = path[2:]
    return path.rstrip("/") or path


def may_hold_path(word: str) -> bool:
    """Whether a word, or one of these classes (`shapes`), may hold a path."""
    if "/" in word or "\\" in word or word in NAMES or word in NAME_CLASSES:
        return True
    return "." in word and _EXTENSION.search(word) is not None


def path_form(classes: str) -> PathForm | None:
    """The form of words of these classes; `None` where they have none, or may hold more than one path."""
    has_folders = "/" in classes
    if not classes.isascii() or "\\" in classes or "//" in classes or (has_folders and "=" in classes):
        return None
    runs = list(_RUN.finditer(classes))
    paths = [run for run in runs if "/" in run[1] or "." in run[1]]
    if len(paths) != 1 or any(run[1] in NAME_CLASSES for run in runs):
        return None
    path = _trimmed(paths[0][1]).lstrip("" if has_folders else "@$~")
    stem, _, extension = path.rpartition("/")[2].rpartition(".")
    if not stem or extension != extension.lower() or len(paths[0][1]) > _SEGMENT_CHARS_MAX:
        return None
    start = classes.index(path, paths[0].start())
    end = start + len(path)
    return PathForm(start=start, dot=end - len(extension) - 1, end=end, has_folders=has_folders)


def paths_in(word: str) -> list[str]:
    """The paths in one word, as they are spelled."""
    if "/" in word:
        return _paths_with_slashes(word)
    if "\\" in word:
        return _windows(word)
    if may_hold_path(word):
        return [name for run, after in _RUN.findall(word) if (name := _bare(run, after))]
    return []


def _paths_with_slashes(word: str) -> list[str]:
    paths: list[str] = []
    rest = _URL.sub("\n", word) if "://" in word else word
    if "=" in rest:
        paths += [match[0] for match in _WITH_SIGNS.finditer(rest) if _blanked(match[0]) == "\n"]
        rest = _WITH_SIGNS.sub(lambda match: _blanked(match[0]), rest)
    for run, after in _RUN.findall(rest):
        path = _with_slashes(run, after) if "/" in run else _bare(run, after) if "." in run else ""
        if path:
            paths.append(path)
    return paths


def _blanked(path: str) -> str:
    """Nothing in place of a path that holds signs, so that no piece of it is taken for one; any other run as it is."""
    is_one = len(path) <= PATH_CHARS_MAX and has_extension(path.rpartition("/")[2])
    return "\n" if is_one else path


def _with_slashes(run: str, after: str) -> str:
    """The path in a run with slashes; empty where it is none."""
    if GIT in run and _GIT_STORE.search(run) is not None:
        return ""
    if len(run) > PATH_CHARS_MAX or (after == ">" and run.endswith("/")):
        return ""
    path = _trimmed(run)
    while "//" in path:
        path = path[path.index("//") + 2 :]
    return path if path and _is_path(path) else ""


def _trimmed(run: str) -> str:
    path = run.rstrip(".-+@%$~" if not run.endswith("..") else "-+@%$~").lstrip("-+%")
    if not path.isascii():
        path = _MIXED_HEAD.sub("", path, count=1) if _CJK.match(path) else path
        path = _MIXED_END.sub(r"\1", path)
    return path


def _is_path(path: str) -> bool:
    if len(path) <= _SEGMENT_CHARS_MAX and has_extension(path.rpartition("/")[2]):
        return True
    segments = [s for s in path.split("/") if s and s not in (".", "..", "~")]
    if not segments or not _LETTER.search(path):
        return False
    if any(len(s) > _SEGMENT_CHARS_MAX and s.isalnum() for s in segments):
        return False
    last = segments[-1]
    if has_extension(last) or path.startswith(("~/", "./", "../", "@", "$")):
        return True
    first = segments[0]
    if len(segments) == 1:
        return first in _ROOTS or (path.endswith("/") and not path.startswith("/") and len(first) > 2)
    if len(segments) == 2 and not path.startswith("/"):
        return first in _ROOTS or (_is_pair(segments) and any(c in "-_.0123456789" for c in path))
    if not path.startswith("/") and all(s.isalpha() and s[0].isupper() for s in segments):
        return False  # a list: `HTML/CSS/JavaScript`
    return not (first == "s" and last in ("g", "gi")) and any(len(s) > 1 for s in segments)


def _is_pair(segments: list[str]) -> bool:
    return all(len(s) > 1 and _LETTER.search(s) for s in segments)


def has_extension(name: str) -> bool:
    """True for a file's name: a stem and an extension that files have."""
    stem, _, extension = name.rpartition(".")
    return bool(stem) and extension.lower() in EXTENSIONS


def _bare(run: str, after: str) -> str:
    """The name of a file that a run without slashes is; empty where it is none."""
    name = _trimmed(run).lstrip("@$~")
    if not (has_extension(name) or name in NAMES):
        return ""
    if len(name) > PATH_CHARS_MAX or after == "(" or "@" in name or name.lower() in _PRODUCTS:
        return ""
    stem = name.rpartition(".")[0]
    return name if name in NAMES or (stem.strip("._-") and stem not in _SELVES) else ""


def _windows(word: str) -> list[str]:
    matches = _WINDOWS.findall(word)
    if not matches:
        return [name for run, after in _RUN.findall(word) if "." in run and (name := _bare(run, after))]
    paths = [path.rstrip(".\\") for path in matches]
    return [
        path
        for path in paths
        if len(path) <= PATH_CHARS_MAX and ("\\" in path[2:] or ":" in path) and len(path) > 3
    ]
