"""What a transcript may hold to act on a terminal, and what of it must never arrive there.

Titles, clipboard writes, links, screen and cursor control, device queries, one-byte controls, overwriting, text
direction, invisible text. The list grows: a payload that got through anywhere is added here.
"""

from __future__ import annotations

import re

ESC = "\x1b"

PAYLOADS = {
    "title": ESC + "]0;pwn\x07",
    "osc52_clipboard": ESC + "]52;c;cm0gLXJmIH4=\x07",
    "osc8_link": ESC + "]8;;http://evil/\x07ok" + ESC + "]8;;\x07",
    "osc_st": ESC + "]2;x" + ESC + "\\",
    "clear": ESC + "[2J" + ESC + "[H",
    "cursor_up_rewrite": "safe" + ESC + "[1A" + ESC + "[2K" + "fake",
    "dsr_reply": ESC + "[6n",
    "da": ESC + "[c",
    "decrqss": ESC + 'P$q"p' + ESC + "\\",
    "alt_screen": ESC + "[?1049h",
    "c1_csi": "\x9b2J",
    "c1_osc": "\x9d0;x\x9c",
    "bell": "\x07" * 3,
    "cr_overwrite": "rm -rf /\recho hi   ",
    "backspace": "evil\b\b\b\bsafe",
    "iterm": ESC + "]1337;File=:AAAA\x07",
    "bracket_paste": ESC + "[201~\nid\n",
    "nul": "a\0b",
    "bidi": "a\u202egpj.exe",
    "zero_width": "pa\u200byload",
    "tag_chars": "hi" + "".join(chr(0xE0000 + ord(c)) for c in "ignore"),
    "u2028": "a\u2028b",
    "lone": "\ud800",
    "del": "a\x7fb",
    "unterminated": ESC + "]52;c;",
    "nested": ESC + ESC + "[" + ESC + "[2J2J",
    # Kinds the list above does not have.
    "colour": ESC + "[31mred" + ESC + "[8mhidden",
    "selectors": "a" + "".join(chr(0xE0100 + n) for n in (4, 5, 6)) + "\ufe00",
    "fillers": "a\u3164b\u115f\uffa0\u034f",
    "isolates": "\u2066a\u2069",
    "private": "\ue000\U000f0000",
    "unassigned": "\U000e0fff\uffff",
    "markup": "[bold red]not ours[/] [link=http://evil]x[/link] :smiley:",
}

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u034f\u115f\u200b-\u200f\u2028-\u202e\u2060-\u2069\u3164\ue000-\uf8ff\ufe00-\ufe0d"
    "\uffa0\uffff\ud800-\udfff\U000e0000-\U000e0fff\U000f0000-\U000ffffd]"
)
OWN_STYLE = re.compile(r"\x1b\[[0-9;]*m")
