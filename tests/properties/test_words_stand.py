"""A number that names one of many is no value: whatever is said of one, in whichever language, takes nothing back of another.

Sentences are made of every noun with every frame of its language; the counterpart makes settings and their values.
"""

from __future__ import annotations

import re
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
SECOND_STANDS = """
model = gpt-4 | model = gpt-5
model=gpt-4o | model=gpt-5
model = claude-3.5-sonnet | model = claude-opus-4
The model is gpt-4. | The model is gpt-5 now.
The model is X. | The model is Y now.
The model is X | The model is now Y
The model is Opus. | Change the model to Sonnet.
Set the model to gpt-4. | Set the model to gpt-5.
The model should be o3. | The model should be o4 now.
The region is us-east-1. | The region is eu-west-1 now.
region = us-east-1 | region = eu-west-1
encoding = utf-8 | encoding = utf-16
The gpt-4 timeout is 30 s. | The gpt-4 timeout is 60 s.
debug is on | debug is off
Debug is on. | Debug is off now.
debug = true | debug = false
debug: on | debug: off
Debug is enabled. | Debug is disabled.
The cache is on. | The cache is off.
Log is on. | Log is off.
sync = true | sync = false
Set debug to true. | Set debug to false.
Turn debug on. | Turn debug off.
Turn the cache off. | Turn the cache on.
Switch the linter off. | Switch the linter on.
Keep the cache on. | Turn the cache off.
Switch to Python 3.11. | Switch to Python 3.12.
Please switch to Node 18. | Please switch to Node 20.
Upgrade to Python 3.11. | Upgrade to Python 3.12.
Upgrade to Django 4. | Upgrade to Django 5.
Move to Postgres 15. | Move to Postgres 16.
Use Python 3.11. | Switch to Python 3.12.
Let's use Python 3.11. | Let's switch to Python 3.12.
We should migrate to Java 17. | We should migrate to Java 21.
at most 5 jobs | at most 10 jobs
At most 5 jobs. | At most 10 jobs.
At most 5 jobs at a time. | At most 10 jobs at a time.
max 4 workers | max 8 workers
No more than 3 retries. | No more than 5 retries.
Up to 5 threads. | Up to 8 threads.
At least 2 replicas. | At least 3 replicas.
Run at most 5 jobs. | Run at most 10 jobs.
Run at most 5 jobs in parallel. | Run at most 2 jobs in parallel.
You may open at most 5 connections. | You may open at most 10 connections.
4 workers max | 8 workers max
5 jobs at most | 10 jobs at most
Allow at most 3 retries. | Allow at most 5 retries.
Set the log level to debug. | Set the log level to info.
log_level = debug | log_level = info
The log level is debug. | The log level is info now.
The theme is dark. | The theme is light now.
The branch is main. | The branch is develop now.
The output format is json. | The output format is yaml now.
format = json | format = yaml
模型是 gpt-4 | 模型改成 gpt-5
模型是 gpt-4 | 现在模型是 gpt-5
model = gpt-4 | 把 model 改成 gpt-5
把模型设为 gpt-4 | 把模型设为 gpt-5
debug = true | debug is off
最多 5 个线程 | 最多 10 个线程
最多同时 5 个连接 | 最多同时 10 个连接
换成 Python 3.11 | 换成 Python 3.12
用 Python 3.11 | 改用 Python 3.12
切换到 Node 18 | 切换到 Node 20
升级到 Python 3.11 | 升级到 Python 3.12
debug 是 true | debug 改成 false
区域是 us-east-1 | 区域改为 eu-west-1
至少 2 个副本 | 至少 3 个副本
Turn on debug. | Turn off debug.
Turn off the cache. | Turn on the cache.
Debug is on. | Turn off debug.
Please turn on verbose logging. | Please turn off verbose logging.
The environment is staging. | The environment is production now.
At most 5 jobs. | No more than 10 jobs.
Max 5 workers. | Up to 8 workers.
Go back to Python 3.11. | Go back to Python 3.10.
assignee = anna | assignee = ben
端口是8080 | 端口改成9090
端口是8080。 | 现在端口是9090。
最多5个线程 | 最多10个线程
把超时改成30秒 | 把超时改成60秒
模型是gpt-4 | 模型改成gpt-5
换成Python 3.11 | 换成Python 3.12
"""
"""Pairs of messages, the second of which gives the same thing another value."""
BOTH_STAND = """
Look at PR 12. | Look at PR 15.
Look at PR-12. | Look at PR-15.
ABC-12 is broken. | ABC-15 is broken.
ABC-12 is broken now. | ABC-15 is broken now.
Fix ABC-12. | Fix ABC-15.
fix: ABC-12 | fix: ABC-15
Fix test 3. | Fix test 4.
Fix: 3 | Fix: 4
Test: 3 | Test: 4
Debug: 12 | Debug: 15
Debug test 3. | Debug test 4.
Debug step 12 now. | Debug step 15 now.
Add 5 tests. | Add 10 tests.
Add at most 5 tests. | Add at most 10 tests.
Write at most 5 lines. | Write at most 10 lines.
Fix at most 5 issues. | Fix at most 10 issues.
Show me at most 5 errors. | Show me at most 10 errors.
At most 5 seconds. | At most 10 seconds.
At most 5 words. | At most 10 words.
At most 5 jobs. | At least 5 jobs.
At most 5 jobs. | At most 10 workers.
At most 5 jobs on staging. | At most 10 jobs on production.
Up to 5 retries for uploads. | Up to 10 retries for downloads.
At most 5 jobs. | At most 5 jobs failed.
At most 5 jobs. | At most 10 jobs failed.
At most 5 jobs. | Are at most 10 jobs ok?
At most 5 jobs. | There were at most 10 jobs.
At most 5 jobs. | Start 10 jobs.
At most 5 jobs. | Also at most 10 jobs.
Start 5 jobs. | Start 10 jobs.
Kill at most 5 jobs. | Kill at most 10 jobs.
Delete at most 5 servers. | Delete at most 10 servers.
Run step 1. | Run step 2.
Run it with model = gpt-4. | Run it with model = gpt-5.
Run the eval with gpt-4. | Run the eval with gpt-5.
Try model = gpt-4. | Try model = gpt-5.
Test with model=gpt-4. | Test with model=gpt-5.
Compare it to gpt-4. | Compare it to gpt-5.
The test for model = gpt-4 fails. | The test for model = gpt-5 fails.
The failing model is gpt-4. | The failing model is gpt-5.
The best model is gpt-4. | The fastest model is gpt-5 now.
One model is gpt-4. | Another model is gpt-5.
A model is gpt-4. | A model is gpt-5.
gpt-4 is slow. | gpt-5 is slow.
gpt-4 is slow now. | gpt-5 is slow now.
The gpt-4 timeout is 30 s. | The gpt-5 timeout is 60 s.
The model is slow. | The model is wrong now.
The page is slow. | The page is broken now.
The header is bold. | The header is red now.
The error is E-12. | The error is E-15.
The failing test is t-12. | The failing test is t-15.
Add a user with role=admin. | Add a user with role=guest.
Create a branch with base=main. | Create a branch with base=develop.
Run the tests with Python 3.11. | Run the tests with Python 3.12.
Switch to step 3. | Switch to step 4.
Switch to PR 12. | Switch to PR 15.
Switch to tab 2. | Switch to tab 3.
Switch to version 2. | Switch to version 3.
Switch the CI to Python 3.11. | Switch the docs to Python 3.12.
Switch to Python 3.11. | Switch to Node 20.
Test the switch to Python 3.11. | Test the switch to Python 3.12.
Try to switch to Python 3.11. | Try to switch to Python 3.12.
First switch to Python 3.11. | Then switch to Python 3.12.
Switch to Python 3.11 in CI. | Switch to Python 3.12 in Docker.
Should we switch to Python 3.11? | Should we switch to Python 3.12?
If it fails switch to Python 3.11. | If it fails switch to Python 3.12.
Never switch to Python 3.11. | Never switch to Python 3.12.
Deploy to staging. | Deploy to production.
Push to main. | Push to develop.
Merge it to main. | Merge it to develop.
Never push to main. | Never push to develop.
Set up replication to staging. | Set up replication to production.
Set up mail forwarding to Anna. | Set up mail forwarding to Ben.
Run it with debug on. | Run it with debug off.
Check that debug is on. | Check that debug is off.
Test it with the cache on. | Test it with the cache off.
See what happens when debug is on. | See what happens when debug is off.
The test is on. | The test is off.
Turn left at 5. | Turn left at 10.
Turn page 12. | Turn page 15.
Turn debug on and run the tests. | Turn debug off and run the tests.
Try it with debug turned on. | Try it with debug turned off.
The staging debug is on. | The production debug is off.
Is debug on? | Is debug off?
Never turn debug on. | Never turn debug off.
Save it as out-1. | Save it as out-2.
Save it to out-1. | Save it to out-2.
Copy the log to host-1. | Copy the log to host-2.
Move the file to dir-1. | Move the file to dir-2.
Connect to host-1. | Connect to host-2.
Restart host-1 now. | Restart host-2 now.
The server is host-1. | The server is host-2.
Look at commit abc-12 now. | Look at commit abc-15 now.
Now fix ABC-12. | Now fix ABC-15.
Write to Anna. | Write to Ben.
debug = true | Turn debug on.
Debug is enabled. | Debug is on.
Switch to node 3. | Switch to node 4.
Move to node 3. | Move to node 4.
Up to 5 attempts at question 3. | Up to 5 attempts at question 4.
At most 3 workers for the crawler. | At most 5 workers for the parser.
The current ticket is ABC-12. | The current ticket is ABC-15.
commit = abc123 | commit = def456
The response must be json. | The response must be xml.
他是12岁 | 他是15岁
我是12号 | 我是15号
服务器1是主的 | 服务器2是主的
看 PR-12 | 看 PR-15
修复 ABC-12 | 修复 ABC-15
用 gpt-4 跑一遍 | 用 gpt-5 跑一遍
用 Python 3.11 跑测试 | 用 Python 3.12 跑测试
最多添加 5 个测试 | 最多添加 10 个测试
最多写 5 行 | 最多写 10 行
比较 gpt-4 | 比较 gpt-5
用 gpt-4 测试一下 | 用 gpt-5 测试一下
切换到步骤 3 | 切换到步骤 4
看第 3 个线程 | 看第 4 个线程
把日志发到 host-1 | 把日志发到 host-2
Use ABC-12 for the demo. | Use ABC-15 for the demo.
Use gpt-4 for the test. | Use gpt-5 for the test.
Invite a user with role=admin. | Invite a user with role=guest.
Turn it on. | Turn it off.
Turn a light on. | Turn a light off.
Turn on each flag. | Turn off each flag.
Turn on debug and run the tests. | Turn off debug and run the tests.
Switch to Python 3.11 to see whether it fails. | Switch to Python 3.12 to see whether it fails.
Look at the switch to Python 3.11. | Look at the switch to Python 3.12.
Set up replication to Anna. | Set up replication to Ben.
check if a == b | check if a == c
The model is good. | The model is bad now.
The disk is full. | The disk is read-only now.
The test for debug = on fails. | The test for debug = off fails.
Open PR-12 now. | Open PR-15 now.
跑测试时用 Python 3.11 | 跑测试时用 Python 3.12
把文件移到 dir-1 | 把文件移到 dir-2
name = anna | name = ben
看第3个测试 | 看第4个测试
第3步：登录 | 第4步：登录
第3步是登录 | 第4步是登录
改第3行 | 改第4行
添加5个测试 | 添加10个测试
修复第3个问题 | 修复第4个问题
现在看第3章 | 现在看第4章
用5句话总结 | 用10句话总结
看PR12 | 看PR15
跑第3个测试 | 跑第4个测试
还有5个错误 | 还有10个错误
任务3：修复登录 | 任务4：修复登录
现在是第3步 | 现在是第4步
现在有5个错误 | 现在有3个错误
最多添加5个测试 | 最多添加10个测试
会议室3被占了 | 会议室4被占了
No more than 3 retries, and never log passwords. | No more than 5 retries.
Never use more than 3 retries. | Never use more than 5 words.
Then turn debug on. | Then turn debug off.
"""
"""Pairs of messages that differ in a value and are about two things, or ask for two."""


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


@pytest.mark.parametrize("language", ["chinese", "japanese", "korean"])
def test_no_blank_is_needed_around_a_number(language: str) -> None:
    """CMP-30: the same where a number stands beside the words without a blank, as people write it."""
    beside = re.compile(r"(?<=[\u3040-\u9fff\uac00-\ud7af]) (?=\S)|(?<=\S) (?=[\u3040-\u9fff\uac00-\ud7af])")
    for frame, noun in sentences(language):
        earlier, later = [beside.sub("", said(frame, noun, n)) for n in (12, 15)]
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


def pairs(table: str) -> list[list[str]]:
    """The two messages of each line of a table above."""
    return [listed(line, by=" | ") for line in table.strip().splitlines()]


@pytest.mark.parametrize(("earlier", "later"), pairs(SECOND_STANDS))
def test_of_two_values_of_one_thing_the_newer_stands(earlier: str, later: str) -> None:
    """CMP-8: names with digits, flags, versions to switch to and bounds, as people write them."""
    assert 0 in supersessions([(0, earlier), (2, later)])


@pytest.mark.parametrize(("earlier", "later"), pairs(BOTH_STAND))
def test_of_two_things_both_stand_whatever_the_values(earlier: str, later: str) -> None:
    """CMP-30: the counterpart; in doubt nothing falls."""
    assert supersessions([(0, earlier), (2, later)]) == {}


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
