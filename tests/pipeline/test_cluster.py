import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from boolcast.matching.matcher import Matcher
from boolcast.pipeline.spark.stores import ObjectStore
from tests.pipeline.cluster import WORKERS
from tests.pipeline.cluster_job import EVENTS, FILTERS

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(1200)
def test_a_cluster_matches_with_an_index_that_only_s3_has(cluster, s3, tmp_path):
    store = ObjectStore(f"{s3.new_bucket()}/index", s3.options)
    run = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.cluster_job", cluster.master, tmp_path / "told"],
        input=pickle.dumps(store),
        env={**os.environ, "BOOLCAST_CACHE": str(tmp_path / "cache")},
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr.decode()
    told = json.loads((tmp_path / "told").read_text())
    assert told["executors"] == [str(number) for number in range(WORKERS)]
    assert told["subscriptions"] == len(FILTERS)

    matcher = Matcher()
    for name, text in FILTERS.items():
        matcher.add(name, text)
    expected = sorted([event["id"], name] for event in EVENTS for name in matcher.match(event))
    assert told["matches"] == expected
    assert len(expected) > len(EVENTS)

    # Each worker had the segments from the store, in a folder of its own.
    segments = {name.split("-")[1].split("/")[0] for name in store.list("segments/")}
    for cache in cluster.caches:
        copied = {path.name.split("-")[0] for path in cache.iterdir()}
        assert copied
        assert copied <= segments
