"""Where a page is typed: a folder of its own, a bash and a Python that go on from block to block, and servers.

    sh, console   ──▶ one bash: what is exported, or `cd`, holds for the next block; the first failure ends it
    python        ──▶ one Python: names are kept, and so is a session of Spark
    json          ──▶ must be JSON
    properties    ──▶ must be settings of a node's, each with an effect

What a reader has in another terminal (`andiron up`, until Ctrl-C) goes on in the background, and the block goes on once
it serves. The next `andiron up` finds its ports free: the one before is stopped in order. `--config` alone adds a node
beside those that run. In the end all of them are stopped by SIGINT, as Ctrl-C does, and must end well.

Several pages can be typed at one desk, one after the other (`turned_to`). Each finds the folder as empty and the bash
as new as the first did, and no name in the Python; but that goes on, so that a Spark which runs is at hand.

Ports in the text are those of the page's own: 9092 becomes the first of some that are free, and those above it follow.
Commands without `-b` find the node by ANDIRON_BOOTSTRAP.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from andiron.broker.settings.node_settings import NodeSettings
from andiron.broker.settings.property_file import parse_properties
from andiron.cli.up import node_by_itself
from pages.markdown import Block
from peers.ports import A_CLUSTER, free_port

ROOT = Path(__file__).parents[2]
# What a checkout has beside the code, found by the names that pages call it by.
AT_HAND = ("README.md", "deploy", "docs", "examples", "pipelines", "pyproject.toml", "tests")

FIRST_PORT, METRICS_PORT = 9092, 9644
BLOCK_TIMEOUT_S = 150.0
STOP_TIMEOUT_S = 60.0

# `andiron` as bash finds it. A node is started beside it, and waited for.
COMMAND = """\
#!{shell}
if [ "$1" = up ] && [ "$2" != --help ]; then exec {python} {helper} {port} "$@"; fi
exec {python} -m andiron "$@"
"""
SHELL_HEAD = """\
set -eo pipefail
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
"""
PYTHON = """\
import sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    path, title, done = line.rstrip("\\n").split("\\t")
    if not path:
        names = {"__name__": "__main__"}
        continue
    try:
        with open(path) as file:
            exec(compile(file.read(), title, "exec"), names)
    except BaseException:
        traceback.print_exc()
        sys.exit(1)
    sys.stdout.flush()
    open(done, "w").close()
"""


class Failed(AssertionError):
    """A block did not do what its page says; the message has the block, and what was printed."""


class Desk:
    """One page's own; leaving it stops what it has started."""

    def __init__(self, folder: Path, page: str) -> None:
        self._page, self._blocks = page, 0
        self.port = free_port(A_CLUSTER)
        self.folder, self._hidden = folder / "here", folder / "desk"
        for made in (self.folder, self._hidden / "bin", self._hidden / "servers"):
            made.mkdir(parents=True)
        for name in AT_HAND:
            (self.folder / name).symlink_to(ROOT / name)
        self._lay_out_commands()
        here = {
            "PATH": f"{self._hidden / 'bin'}:{os.environ['PATH']}",
            "ANDIRON_BOOTSTRAP": f"localhost:{self.port}",
            "PIP_NO_INDEX": "1",  # what is to be installed is there, or the test says so
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        self._environment = {**os.environ, **here}
        self._shell: subprocess.Popen[str] | None = None
        self._python: subprocess.Popen[str] | None = None

    def _lay_out_commands(self) -> None:
        python = shlex.quote(sys.executable)
        helper = shlex.quote(str(Path(__file__).with_name("serving.py")))
        andiron = COMMAND.format(shell="/bin/bash", python=python, helper=helper, port=self.port)
        others = dict.fromkeys(("python", "python3"), f'#!/bin/bash\nexec {python} "$@"\n')
        pip = f'#!/bin/bash\nexec {python} -m pip "$@"\n'
        for name, script in {"andiron": andiron, "pip": pip, **others}.items():
            (self._hidden / "bin" / name).write_text(script)
            (self._hidden / "bin" / name).chmod(0o755)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._python is not None:
                assert self._python.stdin
                self._python.stdin.close()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._python.wait(STOP_TIMEOUT_S)
            self._stop_servers()
        finally:
            self._shell, self._python = self._end(self._shell), self._end(self._python)

    @contextlib.contextmanager
    def turned_to(self, page: str) -> Iterator[Self]:
        """Another page, at whose end all is put away that it has made."""
        self._page = page
        try:
            yield self
        finally:
            self._shell = self._end(self._shell)
            if self._python is not None and self._python.poll() is None:
                self._send(self._python, "\t\t\n")
            else:
                self._python = self._end(self._python)
            try:
                self._stop_servers()
            finally:
                for made in self.folder.iterdir():
                    if made.is_dir() and not made.is_symlink():
                        shutil.rmtree(made)
                    elif made.name not in AT_HAND:
                        made.unlink()

    # ── typing ───────────────────────────────────────────────────────────────────────

    def type_in(self, block: Block) -> None:
        """Do what a reader does with a block, and compare what comes with what the page shows."""
        if block.language == "sh":
            self._type_shell(block, block.text)
        elif block.language == "console":
            for command, shown in said_and_shown(block.text):
                compare(self._type_shell(block, command), shown)
        elif block.language == "python":
            self._type_python(block)
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "properties":
            given = parse_properties(self._here(block.text))
            told = NodeSettings.load({**node_by_itself("localhost", self.port), **given}).notices
            assert not told, f"{self._page}:{block.line}: {told}"
        else:
            raise Failed(f"{self._page}:{block.line}: nobody knows how to run {block.language or 'this'}")

    def prepare(self, commands: str) -> None:
        """Have what the page takes for given."""
        self._type_shell(Block("sh", commands, 0), commands)

    def _type_shell(self, block: Block, commands: str) -> str:
        if self._shell is None:
            self._shell = self._start(["/bin/bash"])
            self._send(self._shell, SHELL_HEAD)
        script, out, errors, done = self._files(self._here(commands))
        self._send(self._shell, f"source {script} < /dev/null > {out} 2> {errors}; touch {done}\n")
        return self._wait(block, self._shell, out, errors, done)

    def _type_python(self, block: Block) -> None:
        title = f"{self._page}:{block.line}"
        # Lines of a traceback are the page's.
        source, _, _, done = self._files("\n" * (block.line - 1) + self._here(block.text))
        if self._python is None:
            self._python = self._start(
                [sys.executable, "-c", PYTHON], self._hidden / "python.out", self._hidden / "python.err"
            )
        self._send(self._python, f"{source}\t{title}\t{done}\n")
        self._wait(block, self._python, self._hidden / "python.out", self._hidden / "python.err", done)

    def _here(self, text: str) -> str:
        """The text with the ports of this page's servers."""

        def moved(match: re.Match[str]) -> str:
            port = int(match[0])
            if port == METRICS_PORT:
                return str(self.port + A_CLUSTER - 1)
            above = port - FIRST_PORT
            return str(self.port + above) if 0 <= above < A_CLUSTER else match[0]

        return re.sub(r"(?<![\w.])9\d\d\d(?!\w)", moved, text)

    def _files(self, text: str) -> tuple[Path, Path, Path, Path]:
        self._blocks += 1
        script = self._hidden / f"{self._blocks}.typed"
        script.write_text(text, encoding="utf-8")
        return script, script.with_suffix(".out"), script.with_suffix(".err"), script.with_suffix(".done")

    def _start(
        self, command: list[str], out: Path | None = None, errors: Path | None = None
    ) -> subprocess.Popen[str]:
        with contextlib.ExitStack() as files:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=files.enter_context(open(out or os.devnull, "wb")),
                stderr=files.enter_context(open(errors or self._hidden / "shell.err", "wb")),
                text=True,
                start_new_session=True,
            )

    def _end(self, process: subprocess.Popen[str] | None) -> None:
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def _send(self, process: subprocess.Popen[str], text: str) -> None:
        assert process.stdin
        process.stdin.write(text)
        process.stdin.flush()

    def _wait(self, block: Block, process: subprocess.Popen[str], out: Path, errors: Path, done: Path) -> str:
        until = time.monotonic() + BLOCK_TIMEOUT_S
        while not done.exists():
            ended = process.poll() is not None
            if (ended and not done.exists()) or time.monotonic() > until:
                how = "failed" if ended else f"is not done after {BLOCK_TIMEOUT_S:.0f} s"
                told = out.read_text(errors="replace") + errors.read_text(errors="replace")
                raise Failed(f"{self._page}:{block.line} {how}\n{block.text}\n{told[-6000:]}")
            time.sleep(0.02)
        return out.read_text(errors="replace")

    # ── servers ──────────────────────────────────────────────────────────────────────

    def _stop_servers(self) -> None:
        subprocess.run(
            [sys.executable, str(Path(__file__).with_name("serving.py")), "stop"],
            env=self._environment,
            cwd=self._hidden,
            check=True,
            timeout=2 * STOP_TIMEOUT_S,
        )


def said_and_shown(console: str) -> list[tuple[str, list[str]]]:
    """The commands of a `console` block, each with the lines that are shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in console.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and line.strip():
            found[-1][1].append(line)
    return found


def compare(told: str, shown: list[str]) -> None:
    """Each line that is shown must come, in this order; numbers may be others, and … stands for anything."""
    lines = iter(told.splitlines())
    for line in shown:
        pattern = "".join(
            {"…": ".*"}.get(part) or (r"[\d,.]+" if part[0].isdigit() else re.escape(part))
            for part in re.findall(r"…|\d[\d,.]*(?<=\d)|[^…\d]+", line.strip())
        )
        assert any(re.fullmatch(pattern, each.strip()) for each in lines), f"not printed: {line}\n{told}"
