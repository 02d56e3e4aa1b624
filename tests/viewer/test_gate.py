import pytest

from rattleback.core.errors import InputError
from rattleback.viewer.door import Door
from rattleback.viewer.gate import Gate

HOST = {"Host": "127.0.0.1:8080"}


def cookie_of(answer):
    return dict(answer.headers)["Set-Cookie"].split(";")[0]


def enter(gate, token=None, **headers):
    return gate.judge(f"/?token={gate.token() if token is None else token}", {**HOST, **headers})


def test_without_token_the_visitor_is_refused_and_asked_for_it():
    answer = Gate().judge("/", HOST)
    assert answer.status == 403
    assert 'name="token"' in answer.text


def test_a_token_is_turned_into_a_cookie_that_opens_the_door():
    gate = Gate()
    answer = enter(gate)
    assert answer.status == 303
    assert dict(answer.headers)["Location"] == "/"
    assert gate.judge("/", {**HOST, "Cookie": f"other=1; {cookie_of(answer)}"}) is None


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites():
    words = dict(enter(Gate()).headers)["Set-Cookie"]
    assert "HttpOnly" in words
    assert "SameSite=Strict" in words


def test_a_token_is_good_once():
    gate = Gate()
    token = gate.token()
    assert enter(gate, token).status == 303
    assert enter(gate, token).status == 403


def test_a_wrong_token_is_refused():
    gate = Gate()
    gate.token()
    answer = enter(gate, "guess")
    assert answer.status == 403
    assert "wrong or used up" in answer.text


def test_a_wrong_cookie_is_refused():
    gate = Gate()
    name = cookie_of(enter(gate)).partition("=")[0]
    assert gate.judge("/", {**HOST, "Cookie": f"{name}=guess"}).status == 403


def test_a_name_made_to_point_at_this_machine_is_refused_even_with_the_cookie():
    gate = Gate()
    cookie = cookie_of(enter(gate))
    answer = gate.judge("/", {"Host": "evil.example:8080", "Cookie": cookie})
    assert answer.status == 403
    assert "does not answer for the host" in answer.text


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:9999", "null", "https://127.0.0.1"])
def test_another_origin_is_refused_even_with_the_cookie(origin):
    gate = Gate()
    cookie = cookie_of(enter(gate))
    answer = gate.judge("/", {**HOST, "Cookie": cookie, "Origin": origin})
    assert answer.status == 403
    assert "its own page only" in answer.text


def test_the_page_itself_is_let_in():
    gate = Gate()
    cookie = cookie_of(enter(gate))
    assert gate.judge("/", {**HOST, "Cookie": cookie, "Origin": "http://127.0.0.1:8080"}) is None


def test_what_a_host_header_holds_cannot_write_into_the_page():
    answer = Gate().judge("/", {"Host": "<script>alert(1)</script>"})
    assert "<script>alert" not in answer.text


def test_a_visitor_with_the_key_keeps_tokens_for_others():
    gate = Gate()
    cookie, token = cookie_of(enter(gate)), gate.token()
    assert gate.judge(f"/?token={token}", {**HOST, "Cookie": cookie}).status == 303
    assert enter(gate, token).status == 303


def test_only_the_last_tokens_are_good():
    gate = Gate()
    first = gate.token()
    for _ in range(64):
        gate.token()
    assert enter(gate, first).status == 403


def test_a_chosen_token_is_good_for_many():
    gate = Gate(word="a-word-of-one-s-own")
    assert [enter(gate, "a-word-of-one-s-own").status for _ in range(3)] == [303] * 3


def test_many_runs_leave_few_cookies_and_none_of_another_server_goes():
    """A browser with the cookies of 130 servers on 127.0.0.1, and of a program that is none of ours."""
    jar = {"other": "1"}
    for _ in range(130):
        said = "; ".join(f"{name}={value}" for name, value in jar.items())
        for _, cookie in [header for header in enter(Gate(), Cookie=said).headers if header[0] == "Set-Cookie"]:
            name, _, value = cookie.partition(";")[0].partition("=")
            jar.pop(name, None)
            if "Max-Age=0" not in cookie:
                jar[name] = value
    assert len(jar) <= 1 + 9
    assert jar["other"] == "1"


def test_a_cookie_that_others_named_cannot_write_headers():
    answer = enter(Gate(), Cookie="; ".join(["rattleback_\r\nX: 1=2"] * 20))
    assert [value for name, value in answer.headers if name == "Set-Cookie" and "\n" in value] == []


def test_the_address_a_request_came_in_at_is_a_host():
    gate = Gate()
    headers = {"Host": "192.0.2.7:8080"}
    assert "token" in gate.judge("/", headers, here="192.0.2.7").text
    assert "does not answer" in gate.judge("/", headers, here="192.0.2.8").text


def test_a_page_others_can_reach_needs_a_token():
    with pytest.raises(InputError, match="choose a token they have to know"):
        Door(listen="0.0.0.0")
    assert Door(listen="0.0.0.0", token="correct-horse-battery").hosts
    assert Door(listen="127.0.0.1").token == ""


@pytest.mark.parametrize("token", ["short", "has spaces in it, long", "ümlaute-sind-keine-gute-idee"])
def test_a_token_is_long_and_plain(token):
    with pytest.raises(InputError, match="at least 16 letters"):
        Door(token=token)


def test_a_door_is_at_an_address():
    with pytest.raises(InputError, match="cannot be served at 'home'"):
        Door(listen="home")
    with pytest.raises(InputError, match="The port is 70000"):
        Door(port=70000)


def test_an_address_of_six_is_put_into_brackets():
    assert Door(listen="::1").name == "[::1]"
