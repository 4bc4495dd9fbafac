import subprocess
import sys

import pytest

from andiron.wire.apis import APIS, Api, ApiKey

every_api = pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)


@every_api
def test_a_row_says_what_its_messages_declare(api: Api) -> None:
    for declared in (api.request, api.response):
        assert declared.__api_key__ == api.key
        assert declared.__versions__ == api.versions
        assert declared.__flexible__ == api.flexible_since


@every_api
def test_a_row_is_found_by_its_key_and_its_key_by_its_name(api: Api) -> None:
    constant = api.module.rpartition(".")[2].upper()

    assert APIS[api.key] is api
    assert getattr(ApiKey, constant) == api.key


def test_every_key_has_a_row() -> None:
    keys = {value for name, value in vars(ApiKey).items() if name.isupper()}

    assert keys == set(APIS)


def test_messages_are_imported_when_they_are_asked_for() -> None:
    asked = (
        "import sys, andiron.wire.header, andiron.wire.codec;"
        "from andiron.wire.apis import APIS;"
        "before = [name for name in sys.modules if name.startswith('andiron.wire.messages')];"
        "name = APIS[0].request.__name__;"
        "print(before, name)"
    )
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)

    assert told.stdout.split() == ["[]", "ProduceRequest"]
