"""Which Java is taken, of those that are there; each is a script that says what a real one would."""

from __future__ import annotations

import subprocess

import pytest

from andiron.spark.runtime import java
from andiron.spark.runtime.java import Java, NoJava, find_java, front_of, inspect_java, use_java


@pytest.fixture(autouse=True)
def nothing_else_here(monkeypatch, tmp_path):
    """No Java but those a test makes, and a cache of its own."""
    monkeypatch.setattr(java, "USUAL_HOMES", (str(tmp_path / "usual/*"),))
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    monkeypatch.setenv("ANDIRON_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def make_java(tmp_path):
    """A home with a bin/java that lists these modules, or knows none."""

    def make(name, version, *modules):
        home = tmp_path / name
        (home / "bin").mkdir(parents=True)
        (home / "lib").mkdir()
        listed = "\n".join(f"{each}@{version}" for each in ("java.base", *modules))
        old = "echo Unrecognized option: --list-modules >&2; exit 1"
        known = f'[ "$1" = --list-modules ] && echo "{listed}" || echo "$@"'
        launcher = home / "bin/java"
        launcher.write_text(f"#!/bin/sh\n{old if version == '1.8' else known}\n")
        launcher.chmod(0o755)
        return str(home)

    return make


def test_java_home_comes_first(make_java):
    first, second = make_java("a", "17.0.1", java.ASKED_FOR), make_java("b", "21.0.2", java.ASKED_FOR)
    assert find_java({"JAVA_HOME": first, "PATH": f"{second}/bin"}) == Java(first, 17, complete=True)


def test_a_java_that_is_too_old_is_passed_over(make_java):
    old, new = make_java("a", "11.0.1"), make_java("b", "21.0.2", java.ASKED_FOR)
    assert find_java({"JAVA_HOME": old, "PATH": f"{new}/bin"}).version == 21


def test_the_path_is_followed_to_the_home(make_java, tmp_path):
    home = make_java("a", "25-ea", java.ASKED_FOR)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/java").symlink_to(f"{home}/bin/java")
    assert find_java({"PATH": str(tmp_path / "bin")}) == Java(home, 25, complete=True)


def test_the_usual_folders_are_looked_through(make_java):
    home = make_java("usual/jdk", "17.0.1", java.ASKED_FOR)
    assert find_java({}).home == home


def test_advice_says_which_one_was_too_old(make_java):
    home = make_java("a", "1.8")
    with pytest.raises(NoJava, match=rf"Java 8 in {home} is too old.*pip install 'andiron\[java\]'"):
        find_java({"JAVA_HOME": home})


def test_advice_where_there_is_none():
    with pytest.raises(NoJava, match=r"no Java found\. Spark needs Java 17 or newer"):
        find_java({"JAVA_HOME": "/nowhere"})


def test_what_does_not_start_is_no_java(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/java").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "bin/java").chmod(0o755)
    assert inspect_java(str(tmp_path)) is None


def test_a_whole_java_is_used_as_it_is(make_java):
    environ = {"JAVA_HOME": make_java("a", "17.0.1", java.ASKED_FOR)}
    assert use_java(environ).home == environ["JAVA_HOME"]


def test_a_java_without_the_module_gets_a_front_that_leaves_it_out(make_java):
    home = make_java("a", "21.0.2")
    environ = {"JAVA_HOME": home}
    use_java(environ)
    front = environ["JAVA_HOME"]
    assert front == front_of(Java(home, 21, complete=False)) != home
    command = [f"{front}/bin/java", "-Da=b c", f"--add-modules={java.ASKED_FOR}", "Main", ""]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout == "-Da=b c Main \n"
