from boolcast.pipeline import session


def test_a_session_runs_python_on_arrow(spark):
    assert spark.range(10).mapInArrow(lambda batches: batches, "id long").count() == 10


def test_the_running_session_is_taken_up(spark):
    assert session() is spark


def test_timestamps_are_in_utc(spark):
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
