"""A number that names one of many is no value: whatever is said of one, in whichever language, takes nothing back of another.

Sentences are made of every noun with every frame of its language; the counterpart makes settings and their values.
"""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import foldline
from foldline.ledger.supersession import supersessions

NOUNS = {
    "english": "PR, issue, step, test, chapter, version, room, page, line, ticket, phase, task, file, item, day, week, section, figure,"
    " question, commit, build, run, server, node, worker, gate, flight, order, user, sprint, lesson, option, port, slide, pull request,"
    " test case, shard, branch, draft, customer, rule, unit, widget, gizmo",
    "german": "PR, Issue, Schritt, Test, Kapitel, Version, Raum, Seite, Zeile, Phase, Aufgabe, Datei, Tag, Woche, Server",
    "french": "PR, étape, test, chapitre, version, salle, page, ligne, ticket, phase, tâche, fichier, jour, semaine",
    "spanish": "PR, paso, prueba, capítulo, versión, sala, página, línea, fase, tarea, archivo, punto, día, semana",
    "portuguese": "PR, passo, teste, capítulo, versão, sala, página, linha, fase, tarefa, arquivo",
    "chinese": "PR, 步骤, 测试, 章节, 版本, 房间, 页, 行, 工单, 阶段, 任务, 文件, 问题, 天, 周",
    "japanese": "PR, ステップ, テスト, 章, バージョン, 部屋, ページ, 行, チケット, タスク, ファイル",
    "korean": "PR, 단계, 테스트, 장, 버전, 방, 페이지, 줄, 티켓, 작업, 파일",
}
FRAMES = {
    "english": """Look at {noun} {n}. | Now look at {noun} {n}. | Actually look at {noun} {n}. | Run {noun} {n}. | Go on with {noun} {n}.
        | Open {noun} {n} now. | Now do {noun} {n}. | {noun} {n}: fix it. | {noun} {n}: look. | {noun} {n} is broken. | {noun} {n} is done now.
        | The {noun} {n} is slow. | {noun} {n} should be short. | {noun} {n} must pass. | {noun} {n} will be next. | Then switch to {noun} {n}.
        | Move on to {noun} {n}. | We are at {noun} {n} now. | There is a bug in {noun} {n}. | The bug is in {noun} {n}. | The typo is now in {noun} {n}.
        | Set up {noun} {n}. | Make {noun} {n} green. | Make the {noun} {n} faster. | Update {noun} {n}. | Change {noun} {n}. | {noun} {n} = done
        | Move {noun} {n} to the end. | Raise {noun} {n} with the team. | Actually {noun} {n} is wrong. | {noun} {n} runs on Linux. | #{n} is broken.
        | Look at {noun} #{n}. | Look at {noun} no. {n}. | We should look at {noun} {n}. | You must finish {noun} {n}. | Next: {noun} {n}.
        | Add {n} {noun}s. | Make {n} {noun}s. | Update {n} {noun}s. | There are {n} {noun}s. | You should add {n} {noun}s. | It is {n} {noun}s away.
        | Look at the first {n} {noun}s. | Keep the last {n} {noun}s. | Check that the {noun} is {n}. | Try {noun} = {n}. | Test with {noun}: {n}.
        | Run it with {noun} set to {n}. | Run it with {n} {noun}s. | A {noun} is {n}. | Another {noun} is {n}. | The {noun} took {n} s. | Raise the {noun} by {n}.
        | Use {noun} {n} as the example for the demo. | {noun} {n} instead of a break. | Step {n}: use a {noun} instead. | Describe how {noun} {n} is used.
        | Write a changelog for {noun} {n} now. | Set a timer to {n} for the {noun}. | Book the {noun} at {n}. | Also set the {noun} to {n}.
        | Set it to {n} and run the {noun}. | Use {n} sentences for the {noun}. | Then use {n} lines. | The {noun} is `f{n}`. | My {noun} is called `f{n}`.
        | {noun}: `f{n}` | Use `f{n}` in the {noun}. | Input: {n} | x = {n}""",
    "german": """Sieh dir {noun} {n} an. | Prüfe {noun} {n}. | {noun} {n}: ansehen. | {noun} {n} ist kaputt. | Jetzt {noun} {n}. | Jetzt {noun} {n} prüfen.
        | Mach mit {noun} {n} weiter. | {noun} {n} ist jetzt fertig. | {noun} {n} wird lang. | Der Fehler ist in {noun} {n}. | Füge {n} Tests hinzu.
        | Ich bin jetzt bei {noun} {n}. | Prüfe: {n} | Ein {noun} ist {n}.""",
    "french": """Regarde {noun} {n}. | Regarde {noun} {n} maintenant. | {noun} {n} : regarde. | {noun} {n} est plutôt lent. | Maintenant {noun} {n}.
        | Continue avec {noun} {n}. | Le bug est dans {noun} {n}. | Ajoute {n} tests. | {noun} {n} sera court. | Un {noun} est {n}.""",
    "spanish": """Mira {noun} {n}. | Ahora mira {noun} {n}. | {noun} {n}: mira. | El {noun} {n} es malo. | El {noun} {n}, en cambio, es lento.
        | Sigue con {noun} {n}. | El error es de {noun} {n}. | Añade {n} pruebas. | El {noun} {n} será corto.""",
    "portuguese": "Veja {noun} {n}. | Agora veja {noun} {n}. | {noun} {n}: veja. | O {noun} {n} é lento. | Adicione {n} testes. | O erro é do {noun} {n}.",
    "chinese": """看第{n}个{noun} | 看第 {n} 个 {noun} | 看 {noun} {n} | 现在看 {noun} {n} | {noun} {n}：看 | {noun}{n}：修复 | {noun} {n} 是坏的
        | {noun} {n} 已经完成了 | 用 {noun} {n} 测试 | 添加 {n} 个{noun} | 改 {noun} {n} | 把 {noun} {n} 改成红色 | 把第 {n} {noun}改成 foo | 把它改成 {n} | 请看：{n} | 用 {n} 句话总结 | 还是看 {noun} {n}
        | 设 {n} 个{noun} | {noun} {n} 现在坏了 | 调整 {noun} {n} 的格式""",
    "japanese": """{noun} {n} を見て | {noun} {n} を見てください | 今 {noun} {n} を見て | {noun} {n} は壊れています | {noun} を {n} つ追加 | {noun} {n} に進む
        | {noun} が {n} 個 失敗した | {noun} {n} に変更を加える | 次は {noun} {n} です""",
    "korean": """{noun} {n} 을 봐 줘 | {noun} {n} 를 보세요 | 이제 {noun} {n} 를 보세요 | {noun} {n} 은 고장났다 | {noun} 를 {n} 개 추가해 줘 | {noun} {n} 가 느리다
        | 다음은 {noun} {n} 입니다 | {noun} 가 {n} 개 실패했다""",
}
KEYS = "port, timeout, retry limit, budget, batch size, deadline, price, log level, max_retries, page size, test timeout"
SETTINGS = """{key} is {n}. | The {key} is {n}. | {key}: {n} | {key} = {n} | {key}={n} | Set the {key} to {n}. | Change the {key} to {n}. | Make the {key} {n}.
    | The {key} is now {n}. | The {key} is {n} now. | The {key} will be {n}. | The {key} is set to {n}. | The {key} moved to {n}."""
DEMANDS = "The {key} should be {n}. | The {key} must be {n}. | We should set the {key} to {n}."
"""What a later report of what is leaves standing."""


def listed(text: str, *, by: str) -> list[str]:
    """The pieces of a table above."""
    return [piece.strip() for piece in text.split(by)]


def said(frame: str, noun: str, n: int) -> str:
    """A sentence, with a capital where it begins."""
    sentence = frame.format(noun=noun, key=noun, n=n)
    return sentence[0].upper() + sentence[1:]


def sentences(language: str) -> list[tuple[str, str]]:
    """Every frame with every noun of a language."""
    return list(product(listed(FRAMES[language], by="|"), listed(NOUNS[language], by=",")))


@pytest.mark.parametrize("language", NOUNS)
def test_what_is_said_of_one_takes_nothing_back_of_another(language: str) -> None:
    """CMP-30: "look at PR 12" was struck by "look at PR 15" and left the view, though nothing was taken back."""
    for frame, noun in sentences(language):
        earlier, later = said(frame, noun, 12), said(frame, noun, 15)
        assert supersessions([(0, earlier), (2, later)]) == {}, (earlier, later)


@given(st.data())
def test_a_conversation_about_many_of_a_kind_loses_none(data: st.DataObject) -> None:
    """CMP-30: the same of whole conversations about one kind of things, in any order and with any numbers."""
    language = data.draw(st.sampled_from(sorted(NOUNS)))
    noun = data.draw(st.sampled_from(listed(NOUNS[language], by=",")))
    frames = st.sampled_from(listed(FRAMES[language], by="|"))
    spoken = data.draw(st.lists(st.tuples(frames, st.integers(1, 9_999)), min_size=2, max_size=6))
    assert supersessions([(at, said(frame, noun, n)) for at, (frame, n) in enumerate(spoken)]) == {}


@pytest.mark.parametrize("key", listed(KEYS, by=","))
def test_a_setting_that_gets_another_value_shows_only_the_newest(key: str) -> None:
    """CMP-8: the counterpart. However either is said, the older value falls."""
    frames = listed(SETTINGS, by="|")
    for before, after in product(frames, [*frames, *listed(DEMANDS, by="|")]):
        earlier, later = said(before, key, 20), said(after, key, 35)
        assert 0 in supersessions([(0, earlier), (2, later)]), (earlier, later)


@pytest.mark.parametrize("to", [0.6, 0.3, 0.15])
def test_of_a_chat_about_numbered_things_every_word_stays(to: float) -> None:
    """CMP-30: at 60 % the second of nine messages was gone, and the first was quoted without its middle."""
    spoken = [
        "We review pull requests today. Look at PR 12. Do not merge anything.",
        "Look at PR 15.",
        "Version 2 of the API is slow.",
        "Version 3 of the API is slow.",
        "Which PRs did I ask you to look at, and which versions are slow?",
    ]
    answer = {
        "role": "assistant",
        "content": "Reading it. " + "It changes the login code and its tests. " * 150,
    }
    messages = [message for text in spoken for message in ({"role": "user", "content": text}, answer)][:-1]
    out = foldline.compact(messages, to=to, format="anthropic")
    shown = str(out.messages)
    assert all(text in shown for text in spoken)
    assert "superseded" not in shown
