"""Visitors by their cookie, and the room that each has."""

import pytest
from starlette.requests import Request
from starlette.responses import Response

from jumok.server import visitors
from jumok.server.limits import DISK_BYTES, FOLDER_BYTES
from jumok.server.refusal import Refusal


def request(cookie=None):
    headers = [] if cookie is None else [(b"cookie", f"{visitors.COOKIE}={cookie}".encode())]
    return Request({"type": "http", "headers": headers})


def test_a_cookie_names_a_folder_and_is_not_its_name():
    name = visitors.name_of(request("a" * 32))
    assert name == visitors.name_of(request("a" * 32))
    assert name != visitors.name_of(request("b" * 32))
    assert name != "a" * 32
    assert len(name) == 32


@pytest.mark.parametrize("cookie", [None, "", "../x", "A" * 32, "a" * 31, "a" * 33])
def test_who_has_no_good_cookie_gets_one_and_keeps_it_during_the_request(cookie):
    asked = request(cookie)
    name = visitors.name_of(asked)
    assert name == visitors.name_of(asked)
    response = Response()
    visitors.remember(asked, response)
    said = response.headers["set-cookie"]
    assert visitors.name_of(request(said.split("=")[1].split(";")[0])) == name
    assert "HttpOnly" in said
    assert "SameSite=strict" in said


def test_nobody_who_is_known_gets_another_cookie():
    asked, response = request("a" * 32), Response()
    visitors.name_of(asked)
    visitors.remember(asked, response)
    assert "set-cookie" not in response.headers


def test_a_full_disk_and_a_full_folder_are_said(tmp_path):
    visitors.refuse_full(tmp_path, "v", DISK_BYTES)
    with pytest.raises(Refusal) as caught:
        visitors.refuse_full(tmp_path, "v", DISK_BYTES - 1)
    assert caught.value.status == 507
    folder = visitors.folder_of(tmp_path, "v") / "jobs"
    folder.mkdir(parents=True)
    with (folder / "large").open("wb") as file:
        file.truncate(FOLDER_BYTES + 1)  # a hole, which takes no room
    with pytest.raises(Refusal, match="2 GB"):
        visitors.refuse_full(tmp_path, "v", DISK_BYTES)
    visitors.refuse_full(tmp_path, "another", DISK_BYTES)
