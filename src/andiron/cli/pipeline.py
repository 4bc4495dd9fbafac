"""`andiron pipeline`: list, run, look at and stop the pipelines on Spark.

    run ──▶ spark/pipeline/pipeline_run.py, in this process, until Ctrl-C
    status, stop ──▶ the file and the lock that a run keeps in its data folder

Spark is an extra of the installation; lazy_group.py says what to install where it is missing.
"""

from __future__ import annotations

import os
import signal
import sys
import time

import click

from andiron.cli.failure import Failure
from andiron.cli.options import as_pairs, bootstrap_option, json_option
from andiron.cli.output import columns, human_bytes, print_json, remark
from andiron.model.settings import rows
from andiron.spark.pipeline import warm_up
from andiron.spark.pipeline.job_settings import settable_names
from andiron.spark.pipeline.pipeline import find_pipeline, folders, pipelines
from andiron.spark.pipeline.pipeline_run import PipelineRun, RunOptions
from andiron.spark.pipeline.run_file import RunFile
from andiron.spark.pipeline.run_status import as_text, run_status
from andiron.spark.pipeline.screen import Screen

DEFAULT_DATA, DEFAULT_LOG_DATA = "pipeline-data", "data"
STOP_TIMEOUT_S = 180
LOOK_EVERY_S = 0.1

data_option = click.option(
    "--data",
    metavar="DIR",
    default=DEFAULT_DATA,
    show_default=True,
    help="Where checkpoints, tables and the state of runs are kept, in a folder for each pipeline.",
)


@click.group()
def pipeline() -> None:
    """Pipelines on Spark: jobs that read topics and write topics and tables.

    A pipeline is a folder with a job.py of ordinary PySpark. They are looked for in the folders that
    ANDIRON_PIPELINES names, in ./pipelines, and among those that come with Andiron; `andiron files copy
    pipelines` makes copies of these to change.
    """


@pipeline.command("list")
@json_option
def list_pipelines(as_json: bool) -> None:
    """List the pipelines there are.

    \b
    Examples:
      andiron pipeline list
      ANDIRON_PIPELINES=~/jobs andiron pipeline list --json
    """
    found = pipelines()
    if as_json:
        print_json([{"name": each.name, "folder": each.folder, "about": each.summary()} for each in found])
    elif found:
        click.echo(columns(("NAME", "ABOUT"), [(each.name, each.summary()) for each in found]))
    else:
        remark(f"there are no pipelines in {', '.join(folders())}")


@pipeline.command()
@click.argument("name")
@click.option("--master", metavar="URL", help="Where Spark runs.  [default: this machine, all cores]")
@click.option(
    "--set",
    "given",
    callback=as_pairs,
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the pipeline; may be given again. `andiron pipeline settings NAME` lists them.",
)
@click.option(
    "--conf",
    callback=as_pairs,
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of Spark, as for spark-submit; may be given again.",
)
@data_option
@click.option("--embedded", is_flag=True, help="Start a node too if none answers, and stop it at the end.")
@click.option(
    "--log-data",
    metavar="DIR",
    default=DEFAULT_LOG_DATA,
    show_default=True,
    help="Where the node of --embedded keeps its records.",
)
@click.option(
    "--sample",
    "sample_rate",
    type=click.FloatRange(0, min_open=True),
    metavar="RATE",
    help="Have sample data flow in, so many a second.",
)
@click.option(
    "--sample-total",
    type=click.IntRange(1),
    metavar="N",
    help="End the sample data after so many; without --sample they come as fast as they go.",
)
@click.option("--results", is_flag=True, help="Print what comes out, as it changes.")
@click.option("--quiet", is_flag=True, help="Print no progress.")
@bootstrap_option
def run(
    *,
    name: str,
    master: str | None,
    given: dict[str, str],
    conf: dict[str, str],
    data: str,
    embedded: bool,
    log_data: str,
    sample_rate: float | None,
    sample_total: int | None,
    results: bool,
    quiet: bool,
    bootstrap: str,
) -> None:
    """Run a pipeline until Ctrl-C, or until SIGTERM or `andiron pipeline stop`.

    Each query finishes the batch it is at before it stops; Ctrl-C again stops at once. Either way the next run
    goes on where this one was, and no record is lost or counted twice.

    \b
    Examples:
      andiron pipeline run orders --embedded --sample 50 --results
      andiron pipeline run orders -b broker:9092 --set window=5m --data /var/lib/pipelines
      andiron pipeline run orders --master spark://host:7077 --conf spark.executor.memory=4g
    """
    wishes = RunOptions(
        bootstrap=bootstrap,
        data=data,
        given=given,
        master=master,
        conf=conf,
        embedded=log_data if embedded else None,
        sample_rate=sample_rate,
        sample_total=sample_total,
        results=results,
    )
    PipelineRun(find_pipeline(name), wishes, Screen(sys.stdout, quiet=quiet))()


@pipeline.command()
@click.argument("name")
@json_option
def warm(name: str, as_json: bool) -> None:
    """Have Spark start sooner from now on, for this pipeline and others.

    Runs the pipeline once on a few sample records, with a node, topics and tables of its own that are thrown away,
    and keeps the classes that Java has loaded for it (class-data sharing) in the cache folder: some 150 MB.
    To be done again when Java or Spark was updated.

    \b
    Examples:
      andiron pipeline warm orders
      ANDIRON_CACHE=/var/cache/andiron andiron pipeline warm orders --json
    """
    archive = warm_up.warm(find_pipeline(name))
    if as_json:
        print_json({"archive": archive, "bytes": os.path.getsize(archive)})
    else:
        click.echo(f"the classes of Spark are in {archive}, {human_bytes(os.path.getsize(archive))}")


@pipeline.command()
@click.argument("name")
@json_option
def settings(name: str, as_json: bool) -> None:
    """List the settings of a pipeline, for --set.

    \b
    Examples:
      andiron pipeline settings orders
      andiron pipeline settings orders --json | jq -r '.[].name'
    """
    table = rows(find_pipeline(name).load().SETTINGS)
    shown = [(key, table[key].render(table[key].default), table[key].doc) for key in settable_names(table)]
    if as_json:
        print_json([{"name": key, "default": default, "about": about} for key, default, about in shown])
    else:
        click.echo(columns(("SETTING", "DEFAULT", "ABOUT"), shown))


@pipeline.command()
@click.argument("name")
@data_option
@json_option
def status(name: str, data: str, as_json: bool) -> None:
    """Show how a pipeline is doing, or how its last run ended. Exit code 0 if it runs, 3 if it does not.

    \b
    Examples:
      andiron pipeline status orders
      andiron pipeline status orders --json | jq '[.queries[].lag] | add'
    """
    state = run_status(RunFile(name, data))
    if as_json:
        print_json(state)
    else:
        click.echo(as_text(state, time.time()))
    if not state["running"]:
        raise click.exceptions.Exit(3)


@pipeline.command()
@click.argument("name")
@data_option
@json_option
def stop(name: str, data: str, as_json: bool) -> None:
    """Stop a pipeline that runs in another terminal, and wait until it has.

    \b
    Examples:
      andiron pipeline stop orders
      andiron pipeline stop orders --data /var/lib/pipelines
    """
    run = RunFile(name, data)
    pid = run.holder()
    if pid is None:
        raise Failure(f"{name} does not run, says {run.folder}; --data names another folder")
    os.kill(pid, signal.SIGTERM)
    _await_end(run, pid)
    if as_json:
        print_json({"name": name, "stopped": True, "pid": pid})
    else:
        click.echo(f"{name} is stopped")


def _await_end(run: RunFile, pid: int) -> None:
    until = time.monotonic() + STOP_TIMEOUT_S
    while run.holder() == pid:
        if time.monotonic() > until:
            raise Failure(
                f"{run.name} (process {pid}) has not stopped in {STOP_TIMEOUT_S} s; see its terminal"
            )
        time.sleep(LOOK_EVERY_S)
