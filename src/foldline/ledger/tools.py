"""Tools by what they do, whatever an agent calls them.

A table of the names that agents give to the eight tools of requirement MIC-2, and the order in which results may
go: what can be read again first, what changed the world later, what failed last. Knows names alone; an unknown tool
counts as one that changed something.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

ToolKind: TypeAlias = Literal[
    "file_read", "shell", "grep", "glob", "web_search", "web_fetch", "file_edit", "file_write", "other"
]

CASCADE_KINDS: frozenset[ToolKind] = frozenset(
    {"file_read", "shell", "grep", "glob", "web_search", "web_fetch", "file_edit", "file_write"}
)
"""The eight tools whose old results `cascade` clears (requirement MIC-2)."""
READS: frozenset[ToolKind] = frozenset({"file_read", "grep", "glob", "web_search", "web_fetch"})
"""Tools that can be run again without a trace."""

_NAMES: dict[ToolKind, str] = {
    "file_read": "read read_file view view_file cat open_file open file_read fs_read read_text_file notebook_read "
    "read_many_files get_file_contents str_replace_editor_view read_pdf list_dir ls list_files listdir list_directory",
    "shell": "bash shell shell_command run_shell_command execute_bash exec exec_command local_shell terminal run_command "
    "run_terminal_cmd run_in_terminal execute_command bash_command run_bash execute_shell command run sh powershell container_exec "
    "unified_exec bashoutput write_stdin",
    "grep": "grep search_files ripgrep rg search_file_content search_dir search_file codebase_search grep_search find_text",
    "glob": "glob find_file find find_files file_search glob_file_search",
    "web_search": "web_search google_web_search search_web image_search tavily_search google_search",
    "web_fetch": "web_fetch fetch fetch_url browse open_url browser_navigate crawl http_get read_url jina_reader",
    "file_edit": "edit edit_file multi_edit str_replace str_replace_editor str_replace_based_edit_tool replace apply_patch "
    "patch update_file search_replace notebook_edit insert fs_edit json_edit_tool file_editor multi_edit_file replace_in_file "
    "str_replace_in_file search_and_replace apply_diff apply_edit edit_block edit_lines replace_lines insert_content insert_at_line "
    "edit_notebook edit_notebook_cell edit_notebook_file insert_edit_into_file replace_string_in_file multi_replace_string_in_file "
    "replace_text_in_file replace_file_content multi_replace_file_content edit_existing_file single_find_and_replace modify_file "
    "append_to_file text_editor",
    "file_write": "write write_file create_file create file_write fs_write save_file delete_file write_to_file create_new_file "
    "new_file create_new_file_with_text write_text_file create_text_file",
}
NAMES_MAX = 512
"""Names of tools that are remembered with their kind."""
_KINDS: dict[str, ToolKind] = {
    name.replace("_", ""): kind for kind, names in _NAMES.items() for name in names.split()
}


@lru_cache(maxsize=NAMES_MAX)
def kind_of(name: str | None) -> ToolKind:
    """What the tool called `name` does, however it joins its words (`MultiEdit`, `multi_edit`). Server prefixes
    (`mcp__fs__read_file`, `fs.read_file`) are looked through."""
    if not name:
        return "other"
    plain = name.lower().replace("-", "_")
    called = (plain, plain.rpartition("__")[2], plain.rpartition(".")[2])
    return next((kind for one in called if (kind := _KINDS.get(one.replace("_", "")))), "other")


def rank(kind: ToolKind, *, is_error: bool) -> int:
    """Order of leaving, lowest first: read-only success, then write, then error (requirement SNP-3)."""
    if is_error:
        return 2
    return 0 if kind in READS else 1
