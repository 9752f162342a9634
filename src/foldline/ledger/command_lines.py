"""Command lines: whether the status that a host states is that of the command a line is known by.

Reads a shell's line as far as that takes: quotes, substitutions, heredocs, comments and what joins commands. Knows nothing
of results; `outcomes` does. Where it cannot tell, the status is hidden: an outcome too few is better than one too many.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import Literal

from msgspec import Struct

CHARS_MAX = 20_000
"""A longer line hides its status."""
LINES_MAX = 16
"""Lines that are remembered as they were read: several questions are asked of one, one after another."""
DEPTH_MAX = 3
"""How deep a shell may be called from a shell's line."""

_TOKEN = re.compile(
    r"\\[\s\S]"
    r"|'[^']*'"
    r"|\"(?:\\[\s\S]|[^\"\\])*\""
    r"|`[^`]*`"
    r"|(?:(?<=\s)|(?<![\s\S]))#[^\n]*"
    r"|<<<"
    r"|<<-?\s?(?P<quote>['\"]?)(?P<here>\w+)(?P=quote)"
    r"|\d?>&\d?-?|<&\d?-?|&>>?|>>?\|?"
    r"|\$\(\(|\$\(|\$\{[^}\n]{0,200}\}"
    r"|(?P<join>&&|\|\||\|&|;;|[;|&\n])"
    r"|[()]",
)
_ERREXIT = re.compile(r"set\s+(?:-\w*e\w*|-o\s+errexit)\b")
_ERREXIT_OFF = re.compile(r"set\s{1,8}(?:\+\w{0,16}e\w{0,16}|\+o\s{1,8}errexit)\b")
_PIPEFAIL = re.compile(r"\bset\s{1,8}(?:-\w{1,16}\s{1,8}){0,8}-\w{0,16}o\s{1,8}pipefail\b")
_TRIVIAL = re.compile(
    r"(?:(?:cd|pushd|popd|export|source|\.|set|shopt|unset|ulimit|umask|alias|echo|printf|pwd|sleep|date|clear|true|:)(?=\s|$)[\s\S]*"
    r"|\w+=\S*)$"
)
"""Commands before another that nobody asks the outcome of."""
_GIVES_UP = re.compile(r"\s*(?:false|(?:exit|return)\s+[1-9]\d{0,2})\s*$")
"""What may follow `||` and still end with a failure."""
_SHELL = re.compile(
    r"(?:^|[\s/])(?:ba|da|z|k|a|fi|tc|c)?sh(?:\s+-\w+)*\s+-\w*c\s+(?P<script>'[^']*'|\"(?:\\[\s\S]|[^\"\\])*\"|.+$)"
)
_SHELL_NAME = re.compile(r"(?:\S*/)?(?:ba|da|z|k)?sh")
_SHELL_RUNS = re.compile(r"-[a-z]{0,3}c")
_LITERAL = re.compile(r"'[^']*+(?:'|\Z)")
_QUOTED = re.compile(r"'[^']*+(?:'|\Z)|\"(?:\\[\s\S]|[^\"\\])*+(?:\"|\\?\Z)")
_RUNS_TEXT = re.compile(
    r"(?:^|[\s/({])(?:eval|ssh|su|runuser|watch|parallel|nix-shell|nix|nix develop|powershell|pwsh|cmd|flock|chroot|nsenter|doas|wsl|xvfb-run|toolbox|distrobox|entr)(?:\.exe)?\s",
    re.IGNORECASE,
)
"""Commands that run what stands quoted behind them."""
_READS_SCRIPT = re.compile(r"(?:^|[\s/({])(?:(?:ba|da|z|k|a)?sh|ssh|eval|source)\b[^\n;|&]{0,200}<<")
"""A shell that is given its commands in a heredoc."""
_DETACHES = re.compile(
    r"(?:^|[\s/({])(?:tmux|screen|coproc|disown|trap|setsid\s+-f|systemd-run|Start-Process|at\s+(?:now|noon|midnight|teatime|\d\S*)|script\s(?:[^\n]{0,80}\s)?-\w*c|make\s(?:[^\n]{0,80}\s)?(?:-\w*i\w*|--ignore-errors)"
    r"|(?:docker|podman)(?:\s+compose|-compose)?\s+(?:run|exec|up)\s(?:[^\n]{0,80}\s)?(?:-\w{0,3}d\w{0,3}|--detach)"
    r"|sudo\s(?:[^\n]{0,40}\s)?(?:-\w{0,4}b\w{0,4}|--background)|ssh\s(?:[^\n]{0,80}\s)?-\w{0,4}f\w{0,4}"
    r"|mvn\s(?:[^\n]{0,80}\s)?(?:-fn|--fail-never|-Dmaven\.test\.failure\.ignore(?:=true)?)|gdb\s(?:[^\n]{0,80}\s)?--?batch)(?=\s|$)"
)
_RUNS_EACH = re.compile(r"\s-(?:exec|execdir|ok|okdir)\s")
_RUNS_ALL = re.compile(r"\{\} ?\+")
"""How `find` runs commands: its status is not that of those that it runs one by one."""
_SUBSTITUTED = re.compile(r"(?:[<>]\(|(?:(?<=\s)|(?<![\s\S]))\w{1,60}=\"?(?:\$\((?!\()|`))\s{0,4}")
"""Where a command's output is taken for a file or for a value, whose status nobody sees once something follows."""
_SUBPROCESS = re.compile(
    r"\bos\.(?:system|popen)\(|\bsubprocess\.(?:run|call|Popen)\((?![^)]{0,300}check ?= ?True)|\bsubprocess\.getoutput\(|\bsubprocess\.getstatusoutput\("
    r"|\b(?:spawn|exec|execFile)(?:Sync)?\(|\bsystem\b\s{0,2}\(?\s{0,2}[\"']"
)
"""A program that runs commands of its own and need not say how they ended."""
_TELLS = re.compile(
    r"(?:echo|printf|true|:|date|pwd|which|command|mktemp|dirname|basename|realpath|readlink|nproc|hostname|whoami|uname|ls|find|git|npm\s+bin|id|env|seq|tr|tee)(?=[\s)`\"]|$)"
)
"""What is taken over for what it prints, whatever its status is."""
_DEFINES = re.compile(r"(?:^|[\s;&])[\w-]{1,60}\s?\(\)\s{0,8}\{")
"""What goes on by itself, or ends well whatever happens."""
_KEYWORD = re.compile(r"\s*(?:for|while|until|if|case|select|!|function)(?=\s|$)")
_SUBSTITUTES = re.compile(
    r"\s*(?:(?:echo|printf|true|:|test|\[\[?)\s[\s\S]*?)?\"?(?:\$\((?!\()|`)|\s*\w{1,60}=(?:\$\([^()]*\)|`[^`]*`)\s+\S"
)
"""Its own status is not that of the command whose output it takes: printed, asked about, run, or given to another."""
_DECLARES = re.compile(r"\s*(?:export|declare|local|readonly|typeset)\s[\s\S]*?(?:\$\((?!\()|`)")
"""The same, where nobody asks for more than the line."""
_READS = re.compile(
    r"\s*(?:cat|tac|nl|bat|tail|head|less|more|grep|egrep|fgrep|zgrep|rg|ag|sed|awk|cut|sort|uniq|wc|zcat|strings|jq"
    r"|journalctl|dmesg|git\s+(?:log|show|diff|blame)|(?:docker|podman|kubectl|docker\s+compose|docker-compose)\s+logs)(?=\s|$)"
)
"""Commands whose output is what stands in a file or a log."""
_LOOKS = re.compile(
    r"\s*(?:ls|ll|dir|tree|stat|file|which|type|du|df|ps|env|id|whoami|uname|nproc|diff|cmp|xxd|basename|dirname|realpath|readlink|column|tr"
    r"|test|\[|find(?![^\n]{0,400}\s-(?:delete|exec|execdir|ok|okdir|fprint\w{0,2}|fls)\b)|git\s+(?:status|branch|remote|rev-parse|ls-files|grep|tag\s+-l)"
    r"|cat|tac|nl|bat|tail|head|less|more|grep|egrep|fgrep|zgrep|rg|ag|sed|awk|cut|sort|uniq|wc|zcat|strings|jq"
    r"|git\s+(?:log|show|diff|blame))(?=\s|$)"
)
"""Commands that look at files and leave them as they are …"""
_ACTS = re.compile(
    r"\s*(?:git\s+branch\s+(?:(?!-|\d?[<>])\S|(?:[^\n]{0,200}\s)?(?:-[a-zA-Z]{0,4}[dDmMcCfut]|--(?:delete|move|copy|force|track|set-upstream|unset-upstream|edit-description)))"
    r"|git\s+remote\s+(?:-v\s+)?(?:add|remove|rm|rename|set-|prune|update)"
    r"|git\s+(?:log|show|diff)\s(?:[^\n]{0,400}\s)?--output[\s=]"
    r"|sort\s(?:[^\n]{0,400}\s)?(?:-[a-zA-Z]{0,6}o|--output)|tree\s(?:[^\n]{0,400}\s)?-o\s"
    r"|sed\s(?:[\s\S]{0,400}\s)?(?:-[a-zA-Z]{0,6}i|--in-place)"
    r"|awk\s(?:[^\n]{0,400}\s)?(?:-i\s{0,4}|--include[\s=])inplace|awk\s[\s\S]{0,400}(?:>\s?\"|\bsystem\s?\())"
)
"""… unless they are told to change something, or to write."""
VERIFIES = re.compile(
    r"(?<![A-Za-z])(?:test|check(?!out)|lint|build|pytest|tsc|mypy|ruff|cargo|make|jest|vitest|verify|bench)\w*\b",
    re.IGNORECASE,
)
"""What commands are called that verify something, whose success is worth a line."""
_REACHES_OUT = re.compile(
    r"\s*(?:git\s+push|(?:gh|glab|hub)\s+[\w-]{1,20}\s+(?:create|merge|close|reopen|comment|edit|review|delete|upload|publish|rerun|cancel|run|transfer|sync|approve)"
    r"|(?:npm|pnpm|yarn|cargo|poetry|uv|hatch|flit|pdm|gem|vsce|lerna|changeset)\s+(?:publish|push|unpublish|yank|deprecate)|twine\s+upload|mvn\s(?:[^\n]{0,200}\s)?deploy"
    r"|(?:docker|podman)\s+(?:image\s+)?push|kubectl\s(?:[^\n]{0,200}\s)?(?:apply|create|delete|patch|replace|scale|set|rollout|drain|cordon|edit|label|annotate)"
    r"|helm\s+(?:install|upgrade|uninstall|rollback|delete)|(?:terraform|tofu|terragrunt|pulumi|cdk|sls|serverless|sam)\s+(?:apply|destroy|import|up|deploy|remove|down)"
    r"|(?:aws|gcloud|az|gsutil|doctl)\s(?:[^\n]{0,200}\s)?(?:cp|mv|sync|rm|rb|mb|put[\w-]{0,40}|create[\w-]{0,40}|delete[\w-]{0,40}|update[\w-]{0,40}|deploy|start[\w-]{0,40}|stop[\w-]{0,40}|run[\w-]{0,40}|invoke|publish|send[\w-]{0,40})"
    r"|(?:fly|flyctl|vercel|netlify|wrangler|firebase|heroku|railway|eb|cap|fab|ansible-playbook|kamal)\s|scp\s|rsync\s|ssh\s|systemctl\s+(?:start|stop|restart|reload|enable|disable)|crontab\s"
    r"|(?:(?:alembic|flyway|liquibase|dbmate|goose|migrate|(?:python\d?\s+)?\S{0,200}manage\.py)\s+(?:upgrade|downgrade|migrate|up|down|update|rollback)"
    r"|(?:npx\s+)?prisma\s+(?:migrate|db\s+push)|(?:npx\s+)?knex\s+migrate|(?:npx\s+)?sequelize\s+db|(?:bin/)?(?:rails|rake)\s+db:)\S{0,40}"
    r"|curl\s(?:[^\n]{0,400}\s)?(?:-X\s?(?:POST|PUT|PATCH|DELETE)|--request[\s=](?:POST|PUT|PATCH|DELETE)|-d\s|--data\S{0,12}[\s=]|-F\s|--form[\s=]|-T\s|--upload-file|--json[\s=])|(?:sendmail|mail|mutt)\s)",
)
"""Commands that change something outside of this machine's files, or put it in service: nobody may do that twice unawares."""
_ECHOES = re.compile(
    r"\s*echo\s+(?:-\w{1,4}\s+)?(?P<said>'[^'$]*'|\"[^\"$`\\]*\"|[^\s'\"$`\\>]+(?: [^\s'\"$`\\>]+){0,20})\s*$"
)
_VERIFYING_WORDS = 5
"""So many words of a command say what it is; behind them stand files."""
_HANDLES = re.compile(
    r"\s*(?:sed|mkdir|rmdir|mv|cp|rm|touch|ln|chmod|chown|git|for|while|if|curl|wget|tar|unzip)\b"
)
"""Commands that verify nothing, whatever their files are called."""
_WRITES = re.compile(r"(?<!\d)>(?!&)(?!>?\s?/dev/null)|(?<=1)>(?!&)")
_SETTING = re.compile(
    r"\s*[A-Za-z_]\w{0,80}=(?>(?:[^\s'\"\\`$()]|\\[\s\S]|\$(?!\()|'[^']*'|\"(?:[^\"\\`$]|\\[\s\S]|\$(?!\())*\")*)(?=\s)"
)
"""A variable that is set for one command; not one that takes another's output."""
_RUNNER = re.compile(
    r"\s*(?:/\S{1,200}/)?(?P<name>sudo|doas|env|command(?!\s+-\w*[vV])|builtin|exec|nice|ionice|nohup|setsid|stdbuf|time|timeout)(?=\s)"
)
_RUNNER_OPTIONS = {
    name: re.compile(
        rf"(?>(?:\s{{1,8}}(?:-\w{{0,8}}{letters}\s{{1,8}}\S{{1,200}}|--(?:user|group|unset|chdir|signal|kill-after|adjustment)\s{{1,8}}\S{{1,200}}|-\S{{0,200}}))*)"
    )
    for name, letters in (
        ("sudo", "[ugCDhpRrTtU]"),
        ("doas", "[uC]"),
        ("env", "[uC]"),
        ("nice", "n"),
        ("ionice", "[cnp]"),
        ("stdbuf", "[ioe]"),
        ("time", "[fo]"),
        ("timeout", "[ks]"),
        ("exec", "a"),
    )
}
"""What may stand between one that runs a command and the command: options, some with a value; …"""
_OPTIONS = re.compile(r"(?>(?:\s{1,8}-\S{1,200})*)")
_DURATION = re.compile(r"\s{1,8}[\d.]{1,10}[smhd]?(?=\s)")
"""… of `timeout`, how long the command may take."""
_GIT_OPTIONS = re.compile(
    r"\s*(?:/\S{1,200}/)?git(?P<options>(?>(?:\s{1,8}(?:-[Cc]\s{1,8}|--(?:git-dir|work-tree|namespace)\s{1,8})(?:'[^']{0,400}'|\"[^\"]{0,400}\"|[^\s'\"]{1,400})"
    r"|\s{1,8}(?:-[pP]|--(?:no-pager|paginate|bare|literal-pathspecs|no-optional-locks|no-replace-objects)|--(?:git-dir|work-tree|namespace|exec-path|config-env)=\S{1,400})(?=\s))+))(?=\s)"
)
"""What may stand between `git` and what it is to do."""
_PIPES = ("|", "|&")
_SHOWS_END = re.compile(r"\s*(?:tail|tee|cat)(?=\s|$)")
_MOVES = re.compile(
    r"\b(?:cd|pushd|popd|export|unset|source|deactivate|checkout|switch|bisect|use|activate|shell|local|load)\b|(?:^|[\s;&])\.\s"
)
"""Without one of these words a line moves nothing on."""
_LEAVES = re.compile(r"(?:cd|pushd|popd)(?=\s|$)")
_TURNS = re.compile(
    r"(?:export|unset|source|\.|deactivate|(?:nvm|fnm|n|rbenv|rvm|sdk|asdf|pyenv|mise|conda|mamba|micromamba|module)\s+(?:use|activate|deactivate|shell|local|global|load))(?=\s|$)"
)
_SWITCHES = re.compile(
    r"git\s+(?:-C\s+\S{1,200}\s+)?(?:(?:checkout|switch)\s+(?!(?:-[bBcC]\s+\S{1,200}|\.)\s*$|(?:[^\n]{0,200}\s)?--\s)|bisect\b)"
)
"""Commands behind which others find another folder, another environment of the shell, other files of the repository: not a new branch
that begins where the old one stands, nor files that are brought back."""
_GOES_TO = re.compile(r"\s*cd\s+[\"']?[/~$]")


class _List(Struct):
    """Commands joined by `&&`, `||` and pipes, up to a `;`, a line break or a `&`."""

    pieces: list[tuple[str, str]] = []
    """What joins a command to the one before, and the command."""
    in_background: bool = False


def hides_status(line: str, *, depth: int = 0) -> bool:
    """True where status 0 does not say that every command of the line went well: behind a pipe, where others follow
    whatever it came to (`;`, a line break, `||`), in the background, in a loop or a condition."""
    if len(line) > CHARS_MAX or depth > DEPTH_MAX:
        return True
    script = _SHELL.search(line)
    if script is not None and hides_status(_unquoted(script["script"]), depth=depth + 1):
        return True
    if _READS_SCRIPT.search(line) or _DEFINES.search(_QUOTED.sub("''", line.partition("<<")[0])):
        return True
    every = _lists(line)
    if _is_taken_over(line, every) or _SUBPROCESS.search(line) or _runs_each(_QUOTED.sub("''", line)):
        return True
    if any(_SUBSTITUTES.match(_bare(command)) for found in every for _, command in found.pieces):
        return True
    lists, is_strict = _without_trivial(every)
    if any(_DECLARES.match(_bare(command)) for found in lists for _, command in found.pieces):
        return True
    if len(lists) > 1 and not (is_strict and all(map(_ends_all, lists[:-1]))):
        return True
    if any(_goes_unseen(command, depth=depth) for found in lists for _, command in found.pieces):
        return True
    pipefail = _PIPEFAIL.search(line) is not None
    return not all(_tells(found, pipefail=pipefail) for found in lists)


def _runs_each(bare: str) -> bool:
    """Whether `find` runs a command for each file."""
    return "find" in bare and _RUNS_EACH.search(bare) is not None and _RUNS_ALL.search(bare) is None


def _is_taken_over(line: str, every: Sequence[_List]) -> bool:
    """Whether the status of a command is lost that gives its output as a file, or as a value before another command."""
    for taken in _SUBSTITUTED.finditer(_bare(line)):
        is_last = "=" in taken[0] and len(every) == 1
        inner = taken.string[taken.end() : taken.end() + 200]
        if not is_last and not (_READS.match(inner) or _TELLS.match(inner)):
            return True
    return False


def only_reads(line: str) -> bool:
    """True where every command shows what stands somewhere: a status in its output is of a time before."""
    if len(line) > CHARS_MAX:
        return False
    commands = [command for found in _lists(line) for _, command in found.pieces]
    asked = [command for command in commands if not _TRIVIAL.match(command.strip())]
    return bool(asked) and all(_READS.match(_asked_in(command)) for command in asked)


def only_looks(line: str) -> bool:
    """True where every command looks at something and changes nothing: what it came to is no outcome that anybody asks for."""
    if len(line) > CHARS_MAX or _WRITES.search(_QUOTED.sub("''", line)):
        return False
    commands = [command for found in _lists(line) for _, command in found.pieces]
    asked = [command for command in commands if not _TRIVIAL.match(command.strip())]
    return bool(asked) and all(map(_looks, asked))


def reaches_out(line: str) -> bool:
    """True where a command of the line changes something that others see: it pushes, publishes, deploys, migrates or sends."""
    return len(line) <= CHARS_MAX and any(
        _REACHES_OUT.match(_asked_in(command)) for _, command in commands_of(line)
    )


def commands_of(line: str) -> list[tuple[str, str]]:
    """The commands of a line in order, each with what joins it to the one before: empty for the first of a list."""
    return [piece for found in _lists(line) for piece in found.pieces]


def says_anyway(line: str) -> Set[str]:
    """What a line prints of its own words whatever came before: `make; echo "done"`, not `make && echo "done"`."""
    if "echo" not in line or len(line) > CHARS_MAX:
        return frozenset()
    told = (_ECHOES.match(found.pieces[0][1]) for found in _lists(line) if len(found.pieces) == 1)
    return frozenset([said["said"].strip("'\"").strip() for said in told if said is not None])


def is_plain(command: str) -> bool:
    """True for a command that nobody asks the outcome of: it only says or looks at something, wherever that is written."""
    return _TRIVIAL.match(command.strip()) is not None or _looks(command)


def _looks(command: str) -> bool:
    run = _asked_in(command)
    return _LOOKS.match(run) is not None and _ACTS.match(run) is None


def unwrapped(command: str) -> str:
    """A command without what only runs it: `env CI=1 nice -n 5 make` is `make`. One that runs no other is given back. Linear."""
    at = 0
    while (found := _SETTING.match(command, at) or _RUNNER.match(command, at)) is not None:
        at = found.end()
        name = found.groupdict().get("name")
        parts = () if name is None else (_RUNNER_OPTIONS.get(name, _OPTIONS), _DURATION)
        for part in parts if name == "timeout" else parts[:1]:
            behind = part.match(command, at)
            at = at if behind is None else behind.end()
    return command[at:] if command[at:].strip() else command


def _asked_in(command: str) -> str:
    """A command as others are written that do the same: without what runs it, and without where git is to do it."""
    run = unwrapped(command)
    options = _GIT_OPTIONS.match(run)
    return run if options is None else f"git{run[options.end() :]}"


def always_passes(command: str) -> bool:
    """True for a command of whose failure nobody has to think: it says something, or sets something."""
    return _TRIVIAL.match(command.strip()) is not None


def verifies(line: str) -> bool:
    """True where a command of the line is one that verifies something."""
    if len(line) > CHARS_MAX or VERIFIES.search(line) is None:
        return False
    commands = [_asked_in(command) for found in _lists(line) for _, command in found.pieces]
    return any(
        VERIFIES.search(" ".join(command.split()[:_VERIFYING_WORDS])) is not None
        for command in commands
        if not (_HANDLES.match(command) or is_plain(command))
    )


def shows_end(line: str) -> bool:
    """True where what a line prints last is what its command printed last: behind no pipe but to `tail`, with nothing that
    shows the beginning of an output, or chosen lines."""
    if len(line) > CHARS_MAX:
        return False
    return all(
        _SHOWS_END.match(command) or not (join in _PIPES or _READS.match(command))
        for join, command in commands_of(line)
    )


def moves_on(line: str, *, folder: str = "") -> Literal["", "shell", "all"]:
    """Whether commands that follow run elsewhere: in another folder of the `shell`, where the line does nothing beside but look, or,
    wherever they run, of `all` they find another branch or environment. `folder`: where the shell stands, as far as that is known."""
    if len(line) > CHARS_MAX or _MOVES.search(line) is None:
        return ""
    commands = [_asked_in(command).strip() for _, command in commands_of(line)]
    if any(map(_SWITCHES.match, commands)):
        return "all"
    if not all(_TURNS.match(command) or is_plain(command) for command in commands):
        return ""
    if any(map(_TURNS.match, commands)):
        return "all"
    leaves = [command for command in commands if _LEAVES.match(command) is not None]
    stays = folder and all(command.split()[1:] == [folder] for command in leaves)
    return "shell" if leaves and not stays else ""


def names_folder(line: str) -> bool:
    """True where a line itself changes to a folder, wherever its shell stands."""
    return _GOES_TO.match(line) is not None


def _bare(command: str) -> str:
    """A command without what stands in single quotes, where nothing is substituted."""
    return _LITERAL.sub("''", command)


def _without_trivial(lists: Sequence[_List]) -> tuple[Sequence[_List], bool]:
    """The lists from the first that somebody asks the outcome of, and whether `set -e` holds there."""
    is_strict = False
    while len(lists) > 1 and _is_trivial(lists[0]):
        for _, command in lists[0].pieces:
            if _ERREXIT.match(command.strip()):
                is_strict = True
            elif _ERREXIT_OFF.match(command.strip()):
                is_strict = False
        lists = lists[1:]
    return lists, is_strict


def _ends_all(found: _List) -> bool:
    """True where `set -e` ends the line when a list fails: not at a `set +e`, nor where one but the last command of `&&`
    fails."""
    commands = [command.strip() for _, command in found.pieces]
    joined = [
        command
        for command, (join, _) in zip(commands, found.pieces[1:], strict=False)
        if join == "&&" and not _TRIVIAL.match(command)
    ]
    return not joined and not any(_ERREXIT_OFF.match(command) for command in commands)


def _goes_unseen(command: str, *, depth: int) -> bool:
    """True where a command goes on by itself, or runs a text of its own that hides a status."""
    bare = _QUOTED.sub("''", command)
    if _DETACHES.search(bare):
        return True
    return _RUNS_TEXT.search(bare) is not None and any(
        hides_status(_unquoted(quoted), depth=depth + 1) for quoted in _QUOTED.findall(command)
    )


def _is_trivial(found: _List) -> bool:
    return all(_TRIVIAL.match(command.strip()) for _, command in found.pieces)


def _tells(found: _List, *, pipefail: bool) -> bool:
    """True where status 0 of a list is that of each of its commands."""
    if found.in_background or any(_KEYWORD.match(command) for _, command in found.pieces):
        return False
    return all(
        (join not in _PIPES or pipefail) and (join != "||" or _GIVES_UP.match(command) is not None)
        for join, command in found.pieces
    )


@lru_cache(maxsize=LINES_MAX)
def _lists(line: str) -> Sequence[_List]:
    """The lists of a line in order, empty ones left out. Linear in the line."""
    lists: list[_List] = []
    now, join, command = _List(pieces=[]), "", ""
    inside = at = 0
    here: list[str] = []
    while (token := _TOKEN.search(line, at)) is not None:
        command += line[at : token.start()]
        at = token.end()
        text = token[0]
        if token["here"]:
            here.append(token["here"])
        elif text in ("$(", "$(("):
            inside += len(text) - 1
            command += text
        elif text == ")" and inside:
            inside -= 1
            command += text
        elif token["join"] is None or inside:
            command += text if text not in "()" else " "
        else:
            if command.strip():
                now.pieces.append((join, command))
            join, command = text, ""
            if text in ("&", ";", ";;", "\n"):
                now.in_background = text == "&"
                lists += [now] if now.pieces else []
                now, join = _List(pieces=[]), ""
            if text == "\n":
                at, here = _behind(line, at, here=here), []
    command += line[at:]
    if command.strip():
        now.pieces.append((join, command))
    return [*lists, now] if now.pieces else lists


def _behind(line: str, at: int, *, here: list[str]) -> int:
    """Where a line goes on behind the texts that its heredocs bring."""
    for word in here:
        end = re.compile(rf"^\s*{re.escape(word)}\s*$", re.MULTILINE).search(line, at)
        at = end.end() if end is not None else len(line)
    return at


def _unquoted(script: str) -> str:
    if script[:1] == script[-1:] == "'":
        return script[1:-1]
    return re.sub(r"\\([\"\\$`])", r"\1", script[1:-1]) if script[:1] == script[-1:] == '"' else script


def script_in(words: list[str]) -> str:
    """The line that a list of words runs: `["bash", "-lc", "make test"]`, as Codex has it, runs `make test`."""
    if len(words) == 3 and _SHELL_NAME.fullmatch(words[0]) and _SHELL_RUNS.fullmatch(words[1]):
        return words[2]
    return " ".join(words)
