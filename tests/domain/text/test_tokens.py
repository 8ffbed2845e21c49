from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.text.tokens import (
    LONGEST_TOKEN,
    build_grams,
    count_grams,
    hash_form,
    normalize,
    normalize_numbers,
    split_words,
    tokenize,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gateway timeouts, timeout!", ["gateway", "timeout", "timeout"]),
        ("KubePodCrashLooping", ["kubepodcrashlooping", "kube", "pod", "crash", "loop"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("http_5xx_rate", ["http_5xx_rate", "http", "5xx", "rate"]),
        ("_private_", ["privat"]),
        ("payments-api p95 > 4.2s", ["payment", "api", "p95", "4", "2s"]),
        ("the disk is full on a node", ["disk", "full", "node"]),
        ("決済サービス 504", ["決済", "済サ", "サー", "ービ", "ビス", "504"]),
        ("API決済x", ["api", "決済", "x"]),
        ("店", ["店"]),
        ("ＦＵＬＬ width", ["full", "width"]),
        ("सेवा धीमी है", ["सेवा", "धीमी", "है"]),
        ("Größe ÜBERLAUF", ["größe".casefold(), "überlauf"]),
        ("___ !!! ", []),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


def test_long_tokens_are_cut() -> None:
    assert tokenize("x" * 500) == ["x" * LONGEST_TOKEN]
    assert all(len(token) <= LONGEST_TOKEN for token in tokenize("a" * 90 + "_" + "b" * 90))


def test_words_are_as_written_but_folded() -> None:
    assert split_words("The KubePod is_down, 決済!") == ["the", "kubepod", "is_down", "決済"]


def test_grams_of_a_word() -> None:
    assert build_grams("db") == (" db", "db ", " db ")
    assert build_grams("disk") == (" di", "dis", "isk", "sk ", " dis", "disk", "isk ", " disk", "disk ")


@given(st.text(alphabet="abé決", max_size=12))
def test_the_count_of_grams_is_that_of_the_grams(word: str) -> None:
    assert count_grams(word) == len(build_grams(word))


@given(st.text(max_size=80))
def test_tokens_are_separable_by_spaces_and_need_no_quoting(text: str) -> None:
    for token in tokenize(text):
        assert token
        assert token.split() == [token]
        assert '"' not in token


def test_normalising_ignores_case_space_numbering_and_the_end() -> None:
    assert normalize(" 1.  Restart  the ＡＰＩ; ") == normalize("- restart the api.") == "restart the api"


def test_texts_that_differ_in_numbers_and_spaces_have_one_form() -> None:
    assert normalize_numbers("Disk  ９１ % full\n") == normalize_numbers("disk 7 % FULL") == "disk 0 % full"
    assert normalize_numbers("disk full") != normalize_numbers("disk 7 full")
    assert hash_form("Disk 91 % full") == hash_form("disk 7 % full") != hash_form("disk full")
    assert -(2**63) <= hash_form("\ud800") < 2**63
