"""The language a user writes is told from script and words; a text in another one is noticed, a text of names is not."""

from __future__ import annotations

import pytest

from foldline.summary.language import is_in_another, language_of

SAID = {
    "English": "Please fix the login bug in src/auth/login.py and run the tests after that.",
    "Portuguese": "Por favor, corrija o erro de login. Não mexa nos arquivos da pasta vendor, isso é importante para nós.",
    "Spanish": "Por favor, corrige el error de inicio de sesión y no toques los archivos de la carpeta vendor.",
    "French": "Corrige le bug de connexion, mais ne touche pas aux fichiers du dossier vendor s'il te plaît.",
    "German": "Bitte behebe den Fehler beim Anmelden, aber fass die Dateien im Ordner vendor nicht an.",
    "Italian": "Correggi il problema di accesso, ma non toccare i file della cartella vendor per favore.",
    "Dutch": "Los het probleem met inloggen op, maar raak de bestanden in de map vendor niet aan.",
    "Polish": "Napraw proszę logowanie, ale nie ruszaj plików w katalogu vendor, bo to nie jest nasze.",
    "Russian": "Исправь ошибку входа, но не трогай файлы в папке vendor.",
    "Ukrainian": "Виправ помилку входу, але не чіпай файли в теці vendor, її змінюють інші.",
    "Greek": "Διόρθωσε το σφάλμα σύνδεσης.",
    "Chinese": "请修复登录的问题，不要修改 vendor 目录下的文件。",
    "Japanese": "ログインの不具合を直してください。vendor の下のファイルは触らないで。",
    "Korean": "로그인 오류를 고쳐 주세요. vendor 폴더의 파일은 건드리지 마세요.",
    "Arabic": "أصلح خطأ تسجيل الدخول من فضلك.",
}


@pytest.mark.parametrize(("language", "text"), SAID.items())
def test_a_language_is_told_from_a_sentence(language: str, text: str) -> None:
    """anomalyco/opencode#20156, openclaw/openclaw#10456: the summary's language follows the user, CJK and European."""
    assert language_of([text]) == language
    assert not is_in_another(text, language)


@pytest.mark.parametrize("language", [name for name in SAID if name != "English"])
def test_an_english_summary_for_another_language_is_noticed(language: str) -> None:
    """Only where it is plain: a dozen of English's commonest words and hardly one of the other's."""
    text = (
        "The user wants the login to be fixed and the tests to be run. The cause was found in the session store, and it is "
        "now fixed. What is left to do is to run the tests, and then to write the change log for this release."
    )
    assert is_in_another(text, language)


def test_the_newest_words_decide_and_code_does_not() -> None:
    """A user who changed the language is answered in the new one; pasted code and paths are no words."""
    code = "```python\nfor the in range(and_):\n    print(the, with_, from_)\n```\n请看 src/the/and/of.py"
    assert language_of([code, SAID["English"] * 9]) == "Chinese"
    assert language_of([SAID["German"] * 8, SAID["French"] * 8]) == "German"
    assert language_of(["ok", SAID["French"]]) == "French"


@pytest.mark.parametrize("texts", [[], [""], ["src/app.py:12 404"], ["xyzzy plugh"], ["`rm -rf`"]])
def test_what_is_not_clear_is_not_named(texts: list[str]) -> None:
    """Rather nothing than something wrong."""
    assert language_of(texts) == ""
    assert not is_in_another("The cause was found", "")


def test_a_summary_full_of_names_is_in_any_language() -> None:
    """Paths, commands and identifiers say nothing of the language; nor does an empty text."""
    for language in SAID:
        assert not is_in_another("`pytest -x` src/auth/login.py `check_token` v1.2.3", language)
        assert not is_in_another("", language)


def test_an_english_user_is_not_summed_up_in_chinese() -> None:
    """The other way round."""
    assert is_in_another("登录问题已经修复，接下来需要运行测试并更新文档。", "English")
    assert not is_in_another("The page 登录 is fixed and the tests pass.", "English")
