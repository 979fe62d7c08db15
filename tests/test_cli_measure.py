"""``jumok roles``: every role is told in both languages, with its formula, its paper and what was published."""

import json
import re

import pytest

from jumok.cli import run
from jumok.errors import UnknownName
from jumok.measurement.roles.definitions import FAMILIES, ROLES, definition, sections

EVERY = [*ROLES, *FAMILIES]


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_all_roles_are_told(lang, capsys):
    assert run(["roles", "--lang", lang]) == 0
    out = capsys.readouterr().out
    for role in EVERY:
        assert f"  {role.name}: {role.title(lang)}\n    {role.text(lang)}\n    {role.formula}\n" in out
        assert all(figure in out for figure in role.published(lang))
    assert "C(q)" in out.splitlines()[-1]


def test_every_role_is_listed_once():
    listed = [role.name for _, roles in sections() for role in roles]
    assert sorted(listed) == sorted(role.name for role in EVERY)


@pytest.mark.parametrize("role", EVERY, ids=lambda role: role.name)
def test_both_languages_say_the_same_numbers(role):
    assert definition(role.name) == role
    assert re.search("[가-힣]", role.text("ko"))
    assert not re.search("[가-힣]", "".join([role.title("en"), role.text("en"), role.formula, *role.published("en")]))
    for en, ko in role.figures:
        assert sorted(re.findall(r"\d+\.\d+|L\d+H\d+", en)) == sorted(re.findall(r"\d+\.\d+|L\d+H\d+", ko))


def test_what_counts_as_a_verb_is_told(capsys):
    for role, of in (("subject-verb", "nsubj"), ("verb-object", "obj")):
        assert run(["roles", role, "--lang", "ko"]) == 0
        out = capsys.readouterr().out
        assert f"= {of}, {of}:…" in out
        assert "VERB or AUX" in out


def test_one_role_of_an_annotation(capsys):
    assert run(["roles", "nmod:poss:to-head", "--lang", "en"]) == 0
    out = capsys.readouterr().out
    assert "a word reads the word that it depends on as nmod:poss" in out
    assert "published: Clark et al., BERT base, poss: 80.5 against 47.7" in out


@pytest.mark.parametrize(
    ("name", "title"),
    [("offset:-2", "-2칸"), ("pos:NOUN", "품사 NOUN"), ("obl:to-dependent", "obl: 지배어에서 의존어로")],
)
def test_a_family_is_told_by_its_member(name, title):
    assert definition(name).title("ko") == title
    assert definition(name).name == name


def test_json(capsys):
    assert run(["roles", "previous", "--json"]) == 0
    (plain,) = json.loads(capsys.readouterr().out)
    assert (plain["name"], plain["measure"], plain["baseline"]) == ("previous", "most", "even")
    assert plain["title"]["ko"] == "바로 앞 토큰"
    assert run(["roles", "--json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == [
        role.name for _, roles in sections() for role in roles
    ]


def test_a_role_that_is_not_there_is_refused(capsys):
    assert run(["roles", "previos", "--lang", "en"]) == 2
    assert "unknown role 'previos'. Did you mean 'previous'" in capsys.readouterr().err
    with pytest.raises(UnknownName, match="unknown role 'offset:-99'"):
        definition("offset:-99")
