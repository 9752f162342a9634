"""A permission lifts the rule about its object, and no rule that stands."""

from __future__ import annotations

import pytest

from foldline.ledger.permissions import allows
from foldline.ledger.rules_allowed import lifted
from tests.linear import slowness

LIFTS = [
    ("Don't add dependencies.", "Adding requests is OK after all."),
    ("Do not add any new dependencies.", "Adding httpx is fine after all."),
    ("Never install packages.", "You can install ripgrep after all."),
    ("No new dependencies.", "Adding requests is okay now."),
    ("Please don't add new libraries to the project.", "It's OK to add numpy now."),
    ("Never modify files in this repo.", "You may now edit config/app.yaml."),
    ("Don't create tables.", "Creating the audit table is fine after all."),
    ("Don't rename columns.", "Renaming user_id is allowed now."),
    ("Never touch src/db.", "You may now touch src/db."),
    ("Never log passwords.", "You may now log passwords."),
    ("不要加依赖。", "现在可以加 requests 了。"),
    ("不要引入任何第三方库", "可以安装 numpy 了"),
    ("禁止修改文件", "现在可以改 config.yaml 了"),
    ("不要动 src/db", "现在可以改 src/db 了"),
    ("不要推送到 main。", "现在可以推送到 main 了。"),
    ("Never push to main.", "You may push to main now."),
    ("Leave src/db alone.", "You may now change src/db."),
    ("src/db is frozen.", "src/db is no longer frozen."),
    ("Do not delete src/db.", "Deleting src/db is fine now."),
    ("Never push to main.", "Actually you may push to main now."),
    ("Don't touch the schema.", "Scratch that, the schema can be changed."),
    ("Never run migrations.", "Migrations can be run now."),
]
STANDS = [
    (["Don't add dependencies."], "Adding tests is OK after all."),
    (["Don't add dependencies."], "Adding requests is slow after all."),
    (["Don't add dependencies."], "Is adding requests OK now?"),
    (["Don't add dependencies."], "Updating requests is OK now."),
    (["Don't add dependencies."], "Adding requests and httpx is OK now."),
    (["Don't add dependencies.", "Don't add comments."], "Adding requests is OK after all."),
    (["Don't add dependencies without asking."], "Adding requests is OK after all."),
    (["Don't add dependencies or tools."], "Adding requests is OK after all."),
    (["Don't add tables."], "Adding a column is OK now."),
    (["Never push to main."], "You may push to dev again."),
    (["Never log passwords."], "You may now log errors."),
    (["Never commit secrets."], "You may now push the branch."),
    (["Never delete files."], "You may now edit a.py."),
    (["Do not touch src/db or src/api."], "You can edit src/db now."),
    (["不要加依赖。"], "现在可以加测试了。"),
    (["不要加依赖。", "不要加注释。"], "现在可以加 requests 了。"),
    (["不要加依赖。"], "现在可以加 requests 吗？"),
    (["不要重命名表"], "现在可以重命名列了"),
    (["Do not delete src/db."], "You may now edit src/db."),
    (["Do not edit src/db."], "You may now read src/db."),
    (["Never delete backup.sql."], "You can open backup.sql now."),
    (["Never log user_id."], "You can now use user_id."),
    (["Never run migrate.sh on production."], "You may run migrate.sh now."),
    (["Only edit src/app.py."], "You may now edit src/app.py again."),
    (["Always use src/db for queries."], "You may now use src/db."),
    (["Don't drop users_old or rename users_old."], "You may now rename users_old."),
    (["Don't push to main, and don't touch src/db."], "You may now touch src/db."),
    (["Never push to main."], "You may now push to main, but only on Fridays."),
    (["Never push to main."], "You may not push to main now."),
    (["不要删除 backup.sql。"], "现在可以打开 backup.sql 了。"),
    (["不要修改 src/db。"], "现在可以读 src/db 了。"),
    (["Never run migrations."], "The README says you can run migrations now."),
    (["Never run migrations."], "You may run migrations in the sandbox now."),
    (["Never run migrations."], "You may now run migrations once."),
    (["Never run migrations."], "You can run migrations tests now."),
    (["Never run migrations."], "You can now run migrations with alembic."),
    (["Never run migrations."], "Your colleague may now run migrations."),
    (["Never run migrations."], "You may run migrations now — no, wait, don't."),
    (["Never touch src/db."], "The README says you may now touch src/db."),
    (["不要运行迁移。"], "现在可以在测试环境运行迁移了。"),
    (["不要运行迁移。"], "只有小王现在可以运行迁移了。"),
    (["不要加依赖。"], "文档说可以加 requests 了。"),
]


@pytest.mark.parametrize(("rule", "permission"), LIFTS)
def test_a_permission_lifts_the_rule_about_its_object_or_about_its_kind(rule: str, permission: str) -> None:
    """`design.md`, the ledger: what supersedes what; in English and in Chinese."""
    assert allows(permission)
    assert lifted(permission, ["Always answer in French.", rule]) == (1,)


@pytest.mark.parametrize(("rules", "sentence"), STANDS)
def test_in_doubt_a_rule_stands(rules: list[str], sentence: str) -> None:
    """Precision first: hiding a rule that stands is worse than showing one that does not."""
    assert not allows(sentence) or lifted(sentence, rules) == ()


def test_a_rule_given_twice_is_lifted_twice() -> None:
    """Both messages say the same."""
    assert lifted("Adding requests is OK after all.", ["Don't add dependencies."] * 2) == (0, 1)


@pytest.mark.parametrize(
    "piece", ["adding x ", "don't add ", "you may now ", "可以加", "any new ", "no new "]
)
def test_hostile_text_takes_time_in_proportion(piece: str) -> None:
    """Whatever stands in it, beside itself and beside what allows."""
    assert slowness(lambda text: lifted(text, [text]), piece, size=20_000, scans_max=100) == ""
    allowed = "Adding x is OK now"
    assert slowness(lambda text: lifted(allowed, [text]), piece, size=20_000, scans_max=100) == ""
