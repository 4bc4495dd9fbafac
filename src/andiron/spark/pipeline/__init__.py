"""Pipelines: ordinary PySpark jobs in folders of their own, found, run, watched and stopped.

    pipelines/orders/job.py     SETTINGS             a table of settings (model/settings.py), with bootstrap and data
                                start(spark, s)      starts the queries and returns them
                                LASTING              optional: names of settings that must stay as they were
                                prepare(s)           optional: topics, before Spark is started
                                about(s)             optional: lines that say where things are
                                results(s)           optional: .changes() gives lines that tell what came out
                                feed(s, rate, total) optional: a source of sample data, see sample_feeder.py

There is no language to learn and nothing to inherit from: a job is a module, and runs by spark-submit too.

Read next: pipeline.py for how one is found, then pipeline_run.py.
"""
