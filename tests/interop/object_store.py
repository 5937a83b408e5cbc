#!/usr/bin/env python3
"""Runs Kyokumen with a local S3 server (moto) through a proxy that records requests and disturbs them.

Objects must equal files byte for byte. Shards must read only their records. No partial object may have a final name,
however a process ends. Errors must be reported soon.

Exit status 0: all correct, 1: a fault, 2: something is missing.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    cargo build --release --features object-store && .venv/bin/python tests/interop/object_store.py
"""

import argparse
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

import boto3

from s3_server import BUCKET, Proxy, Server, environment, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEARCH = ["--nodes", "200", "--hash-mb", "1", "--progress", "none"]
FILTER = ["filter", *SEARCH]


class Bench:
    """A program, a store, a folder, and the number of failures."""

    def __init__(self, kyokumen, server, folder):
        self.kyokumen, self.folder, self.failures = kyokumen, folder, 0
        self.proxy = Proxy(server)
        self.environment = environment(self.proxy.url())
        keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "region_name": "us-east-1"}
        self.s3 = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{server.port}", **keys)
        self.s3.create_bucket(Bucket=BUCKET)
        self.temporary = folder / "temporary"

    def start(self, *words, **environment):
        words = [str(word) for word in [self.kyokumen, *words]]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        variables = {k: v for k, v in (self.environment | environment).items() if v is not None}
        return subprocess.Popen(words, env=variables, **pipes)

    def run(self, *words, **environment):
        process = self.start(*words, **environment)
        process.out, process.err = process.communicate(timeout=300)
        return process

    def done(self, *words, **environment):
        process = self.run(*words, **environment)
        if process.returncode != 0:
            print(" ".join(map(str, words)), process.returncode, process.err, sep="\n", file=sys.stderr)
            self.failures += 1
        return process

    def filter(self, *words):
        return [*FILTER, "--tmp-dir", self.temporary, *words]

    def put(self, key, content):
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=content)

    def get(self, key):
        return self.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def keys(self, folder):
        listed = self.s3.list_objects_v2(Bucket=BUCKET, Prefix=f"{folder}/").get("Contents", [])
        return sorted(entry["Key"].rsplit("/", 1)[1] for entry in listed)

    def uploads(self):
        return len(self.s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []))

    def folder_of(self, prefix):
        return {name: self.get(f"{prefix}/{name}") for name in self.keys(prefix)}

    def report(self, what, is_so, *details):
        print(f"{what}: {'yes' if is_so else 'NO'}")
        if not is_so:
            print(*details, sep="\n", file=sys.stderr)
            self.failures += 1


def url(key):
    return f"s3://{BUCKET}/{key}"


def sample(times=1):
    return (ROOT / "data/sample.hcp").read_bytes() * times


def local(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def comparable(files):
    """The files without values that vary: times and names of inputs."""
    result = {}
    for name, content in files.items():
        if name.endswith(".manifest.json"):
            manifest = json.loads(content)
            lines = lambda o: o["file"].endswith(".jsonl")
            outputs = [
                (o["file"], o["records"], not lines(o) and o["sha256"]) for o in manifest["outputs"]
            ]
            inputs = [(i["from"], i["to"], i["sha256"], i["evidence"]) for i in manifest["inputs"]]
            content = (inputs, outputs, manifest["counts"], manifest["settings"])
        elif name.endswith(".jsonl"):
            # Each line names the input as it was given.
            content = [json.loads(line) | {"file": ""} for line in content.decode().splitlines()]
        result[name] = content
    return result


def check_convert(bench):
    """Uploads and downloads, of small objects and in several parts."""
    plain, psv = bench.folder / "sample.hcp", ROOT / "data/sample.psv"
    plain.write_bytes(sample(400))
    for name, source in [("a.hcp", plain), ("a.psv", psv), ("a.hcp.zst", plain), ("a.sfen.zst", psv)]:
        beside, down = bench.folder / f"beside-{name}", bench.folder / f"down-{name}"
        bench.done("convert", source, "-o", beside)
        bench.proxy.begin()
        bench.done("convert", source, "-o", url(f"convert/{name}"))
        parts = sum("partNumber=" in r.path for r in bench.proxy.requests)
        bench.done("convert", url(f"convert/{name}"), "-o", down)
        same = bench.get(f"convert/{name}") == beside.read_bytes() == down.read_bytes()
        bench.report(f"{name} is the same after an upload and a download", same)
        if name == "a.hcp":
            bench.report("25 MB are uploaded in several parts", parts == 4, parts)
    again = bench.run("convert", psv, "-o", url("convert/a.psv"))
    words = f"{url('convert/a.psv')} exists; replace it with --force"
    bench.report("an output that exists is refused", again.returncode == 1 and words in again.err, again.err)
    bench.done("convert", psv, "-o", url("convert/a.psv"), "--limit", "7", "--force")
    bench.report("--force replaces it", bench.get("convert/a.psv") == psv.read_bytes()[: 7 * 40])
    itself = bench.run("convert", url("convert/a.psv"), "-o", url("convert/a.psv"), "--force")
    words = "would overwrite the input"
    bench.report("an input is not written over", itself.returncode == 2 and words in itself.err, itself.err)


def check_shards(bench):
    """The filter from a bucket to a bucket, whole and in shards, compared with files on a disk."""
    source, out = bench.folder / "in.hcp", bench.folder / "out"
    source.write_bytes(sample()[: 600 * 32])
    bench.put("in.hcp", source.read_bytes())
    for shard in [None, "1/3", "2/3", "3/3"]:
        words = ["--shard", shard] if shard else []
        bench.done(*bench.filter(source, "-o", out / "x", *words))
        bench.done(*bench.filter(url("in.hcp"), "-o", url("out/x"), *words))
    same = comparable(bench.folder_of("out/x")) == comparable(local(out / "x"))
    bench.report("the filter writes the same objects as files, whole and in shards", same, bench.keys("out/x"))
    joined = b"".join(bench.get(f"out/x/in-0000{i}-of-00003.hcp") for i in (1, 2, 3))
    bench.report("shards join to the whole", joined == bench.get("out/x/in.hcp"))
    bench.report("no temporary file is left", not any(bench.temporary.iterdir()))
    again = bench.done(*bench.filter(url("in.hcp"), "-o", url("out/x"), "--shard", "2/3", "--resume"))
    bench.report("a finished shard is not repeated", "nothing to do: shard 2/3" in again.err, again.err)
    refused = bench.run(*bench.filter(url("in.hcp"), "-o", url("out/x"), "--shard", "2/3"))
    bench.report("without --resume a finished shard is refused", refused.returncode == 1 and "exists" in refused.err)


def check_sets(bench):
    """`status`, `verify --manifest` and `merge` on a bucket."""
    output = bench.done("status", url("out/x"), "--json").out
    states = [[s["state"] for s in json.loads(line)["shards"]] for line in output.splitlines()]
    bench.report("status lists the run and its shards", states == [["done"], ["done"] * 3], output)
    names = [name for name in bench.keys("out/x") if "-of-" in name and name.endswith("manifest.json")]
    manifests = [url(f"out/x/{name}") for name in names]
    bench.done("verify", "--manifest", *manifests)
    for output in [url("merged.hcp"), bench.folder / "merged.hcp"]:
        bench.done("merge", url("out/x"), "-o", output)
    whole = bench.get("out/x/in.hcp")
    same = whole == bench.get("merged.hcp") == (bench.folder / "merged.hcp").read_bytes()
    bench.report("merge joins the shards to the whole", same)
    key, missing = "out/x/in-00002-of-00003.hcp.mated", "out/x/in-00003-of-00003.manifest.json"
    kept = bench.get(key)
    bench.put(key, kept[:-1] + b"x")
    damaged = bench.run("verify", "--manifest", *manifests)
    is_reported = damaged.returncode == 1 and "differs from the manifest" in damaged.out
    bench.report("verify --manifest detects one changed byte", is_reported, damaged.out)
    bench.put(key, kept)
    bench.s3.delete_object(Bucket=BUCKET, Key=missing)
    damaged = bench.run("merge", url("out/x"), "-o", url("never.hcp"))
    is_reported = damaged.returncode == 1 and "shard 3/3 is missing" in damaged.err
    bench.report("merge reports a missing shard", is_reported and not bench.keys("never"), damaged.err)


def check_moved(bench):
    """The commands that move records, from a bucket to a bucket."""
    source = bench.folder / "moved.hcp"
    source.write_bytes(sample(3))
    bench.put("moved.hcp", sample(3))
    for command in ["shuffle", "dedup"]:
        beside = bench.folder / f"{command}.hcp"
        bench.done(command, source, "-o", beside)
        bench.done(command, url("moved.hcp"), "-o", url(f"{command}.hcp"))
        same = bench.get(f"{command}.hcp") == beside.read_bytes()
        bench.report(f"{command} writes the same bytes to an object and to a file", same)
    bench.done("split", source, "-o", bench.folder / "split", "--parts", "5")
    bench.done("split", url("moved.hcp"), "-o", url("split"), "--parts", "5")
    files = {k: v for k, v in local(bench.folder / "split").items() if k.endswith(".hcp")}
    same = all(bench.get(f"split/{name}") == content for name, content in files.items())
    bench.report("split writes the same bytes to objects and to files", same and len(files) == 5)


def check_ranges(bench):
    """A shard reads its own records, and a little of the object to detect the format."""
    content = sample(400)
    bench.put("big.hcp", content)
    bench.proxy.begin()
    words = ["-o", bench.folder / "big", "--shard", "2/3", "--every", "20000"]
    bench.done(*bench.filter(url("big.hcp"), *words))
    gets = [r for r in bench.proxy.requests if r.method == "GET" and "/big.hcp" in r.path]
    read = sum(r.read for r in gets)
    bench.report("every request has a range", all(r.range for r in gets))
    third = len(content) // 3
    words = f"a third of {len(content)} bytes is read by a shard of three: {read}"
    bench.report(words, third <= read < third + 400_000)
    places = [int(r.range.split("=")[1].split("-")[0]) for r in gets if r.read > 100_000]
    inside = all(third - 64 <= place < 2 * third + 64 for place in places)
    bench.report("and almost nothing before or after it", places != [] and inside, places)
    # Lines in compressed frames: the offset table of the first shard states where the others begin.
    numbers = random.Random(1)
    lines = bench.folder / "lines.sfen"
    some = bench.done("convert", ROOT / "data/sample.hcp", "-o", "-", "--to", "sfen").out.splitlines()
    with lines.open("w") as file:
        for i in range(280_000):
            words = some[i % len(some)].split("\t")[0].split(" ")
            print(*words[:3], numbers.randrange(1, 10**4), file=file)
    bench.done("convert", lines, "-o", url("lines.sfen.zst"))
    total, words = len(bench.get("lines.sfen.zst")), ["-o", bench.folder / "lines", "--every", "20000"]
    reads = []
    for shard in ["1/4", "4/4"]:
        bench.proxy.begin()
        bench.done(*bench.filter(url("lines.sfen.zst"), *words, "--shard", shard))
        bench.done(*FILTER, lines, "-o", bench.folder / "plain", *words[2:], "--shard", shard, "--to", "sfen.zst")
        reads.append(sum(r.read for r in bench.proxy.requests if r.method == "GET"))
    same = comparable(local(bench.folder / "lines")), comparable(local(bench.folder / "plain"))
    streams = (".sfen.zst", ".sfen.zst.mated")  # only the objects have an offset table
    kept = [{k: v for k, v in files.items() if k.endswith(streams)} for files in same]
    bench.report("shards of compressed lines equal those of a file", kept[0] == kept[1] and len(kept[0]) == 4)
    words = f"the last of four shards of {total} bytes, with an offset table, reads {reads[1]}"
    # The sample for the detection of the format begins with a request of 128 KiB.
    bench.report(words, reads[0] > total and reads[1] < 0.6 * total + 2**17)


def check_disturbed(bench):
    """Refused requests and truncated answers change nothing."""
    count = {"n": 0}

    def disturb(method, path):
        count["n"] += 1
        if count["n"] % 5 == 0:
            return 503
        if count["n"] % 7 == 0 and method == "GET":
            return "cut"

    bench.proxy.begin(disturb)
    bench.done("convert", url("big.hcp"), "-o", url("disturbed.hcp"))
    refused = sum(r.status == 503 for r in bench.proxy.requests)
    same = bench.get("disturbed.hcp") == bench.get("big.hcp")
    bench.report("requests that fail at times are repeated", same and refused >= 3, refused)
    bench.proxy.begin()


def check_changed(bench):
    """An object that is replaced while it is read."""
    for what in ["content", "the same content"]:
        bench.put("changing.hcp", sample(400))
        other = sample(400) if what == "the same content" else sample(401)[-len(sample(400)) - 32 : -32]
        gets = {"n": 0}

        def replace(method, path):
            if method == "GET" and "changing" in path:
                gets["n"] += 1
                if gets["n"] == 70:
                    bench.put("changing.hcp", other)

        bench.proxy.begin(replace)
        output = bench.folder / "changed.hcp"
        process = bench.run("convert", url("changing.hcp"), "-o", output)
        bench.proxy.begin()
        if what == "content":
            is_reported = process.returncode == 1 and "changed while it was read" in process.err
            bench.report("an object that is replaced while it is read gives an error", is_reported, process.err)
            bench.report("and no output", not output.exists())
        else:
            # The store decides whether this is a new version. In any case, parts of both are never mixed.
            whole = process.returncode != 0 or output.read_bytes() == sample(400)
            bench.report("replaced by the same bytes, it gives an error or the whole output", whole, process.err)


def check_interrupted(bench):
    """A partial object never has a final name."""
    source = bench.folder / "large.hcp"
    source.write_bytes(sample(1000))

    def slow(method, path):
        if method == "PUT":
            time.sleep(1)

    for kill, status, left in [(signal.SIGTERM, 143, 0), (signal.SIGINT, 130, 0), (signal.SIGKILL, -9, 1)]:
        bench.proxy.begin(slow)
        process = bench.start("convert", source, "-o", url("cut.hcp"), "--progress", "none")
        wait_for(lambda: any("partNumber" in r.path for r in bench.proxy.requests))
        process.send_signal(kill)
        err = process.communicate()[1]
        time.sleep(1.5)
        name = kill.name
        bench.report(f"{name} ends a conversion", process.returncode == status, process.returncode, err)
        there = "Contents" in bench.s3.list_objects_v2(Bucket=BUCKET, Prefix="cut.hcp")
        bench.report("no object has the name of its output", not there)
        bench.report(f"parts of {left} uploads are left", bench.uploads() == left, bench.uploads())
    for upload in bench.s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []):
        bench.s3.abort_multipart_upload(Bucket=BUCKET, Key=upload["Key"], UploadId=upload["UploadId"])
    bench.proxy.begin()
    bad = bench.folder / "bad.hcp"
    bad.write_bytes(sample(400) + b"\xff" * 32)
    process = bench.run("convert", bad, "-o", url("cut.hcp"))
    there = "Contents" in bench.s3.list_objects_v2(Bucket=BUCKET, Prefix="cut.hcp")
    nothing = process.returncode == 1 and not there and bench.uploads() == 0
    bench.report("a failed conversion leaves no object", nothing, process.err)


def long_run(bench):
    """A filter that lasts long enough to be killed on any machine: its command, its duration. Runs it once."""
    bench.put("long.hcp", sample())
    duration, nodes = 0, 1000
    while duration < 4:
        nodes *= 3
        search = ["--hash-mb", "1", "--threads", "1", "--nodes", str(nodes)]
        common = ["filter", url("long.hcp"), "--name", "in", "--progress", "none", *search]
        started = time.time()
        bench.done(*common, "--tmp-dir", bench.temporary, "-o", url("uninterrupted"), "--force")
        duration = time.time() - started
    return common, duration


def check_resume(bench):
    """`kill -9` at any instant of a filter to a bucket, also during uploads."""
    common, duration = long_run(bench)
    chance = random.Random(7)
    words = [*common, "--tmp-dir", bench.temporary, "-o", url("resumed"), "--resume", "--checkpoint-every", "0.02"]

    def slow(method, path):
        if method == "PUT" and "/resumed/" in path:
            time.sleep(0.3)

    def checkpoints_now():
        try:
            return {(path, path.stat().st_mtime_ns) for path in bench.temporary.glob("*/*.checkpoint")}
        except FileNotFoundError:
            return set()

    def outputs():
        return [key for key in bench.keys("resumed") if ".checkpoint" not in key and ".partial" not in key]

    bench.proxy.begin(slow)
    kills, checkpoints, sending = 0, 0, 0
    while kills < 25:
        before = checkpoints_now()
        process = bench.start(*words)
        sent = len(outputs())
        # First at checkpoints, then after one more output was sent, then at any instant.
        if kills < 4:
            wait_for(lambda: process.poll() is not None or checkpoints_now() - before or outputs())
        elif kills < 7:
            wait_for(lambda: process.poll() is not None or len(outputs()) > sent)
        else:
            time.sleep(chance.uniform(0, duration if kills < 12 else duration + 1))
        if process.poll() is not None:
            process.communicate()
            break
        process.kill()
        process.communicate()
        kills += 1
        checkpoints += bool(checkpoints_now())
        keys = outputs()
        sending += bool(keys)
        if "in.manifest.json" in keys and len(keys) < 6:
            bench.report("no manifest exists without its outputs", False, keys)
    bench.proxy.begin()
    bench.done(*words)
    same = comparable(bench.folder_of("resumed")) == comparable(bench.folder_of("uninterrupted"))
    bench.report(f"a filter of {duration:.1f} s that was killed {kills} times writes the same bytes", same)
    print(f"  {checkpoints} times after a checkpoint, {sending} times while outputs were sent")
    bench.report("some runs were killed after a checkpoint and some during an upload", checkpoints >= 3 and sending >= 2)
    bench.report("no temporary file is left", not any(bench.temporary.iterdir()))


def check_other_machine(bench):
    """A run continues on other machines, which have empty local folders."""
    common, _ = long_run(bench)
    machine, place = 0, "moved"

    def copied_progress():
        try:
            line = bench.get(f"{place}/in.checkpoint").split(b"\n", 1)[0]
            return json.loads(line)["checkpoint"]["progress"]["place"]["counts"]["input"]
        except bench.s3.exceptions.NoSuchKey:
            return 0

    while machine < 12:
        machine += 1
        words = ["--tmp-dir", bench.folder / f"machine-{machine}", "--checkpoint-every", "0.02", "--resume"]
        before = copied_progress()
        process = bench.start(*common, "-o", url(place), *words)
        wait_for(lambda: process.poll() is not None or copied_progress() > before)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL if machine % 2 else signal.SIGTERM)
        err = process.communicate()[1]
        if process.returncode == 0:
            break
        bench.report("a run ends only by its signal", process.returncode in (143, -signal.SIGKILL), err)
        if process.returncode == 143:
            state = json.loads(bench.done("status", url(place), "--json").out)["shards"][0]["state"]
            bench.report("status shows the interruption", state == "interrupted", state)
    bench.done(*common, "-o", url(place), *words)
    same = comparable(bench.folder_of(place)) == comparable(bench.folder_of("uninterrupted"))
    bench.report(f"a filter on {machine} machines writes the same bytes", same, bench.keys(place))
    resumed = json.loads(bench.get(f"{place}/in.manifest.json"))["resumed_from"]
    bench.report("each machine continues where the last one stopped", len(resumed) >= 3 and sorted(resumed) == resumed, resumed)


def check_dataset(bench):
    """Tables in a bucket equal files."""
    for to in ("jsonl", "npz"):
        words = ["dataset", *SEARCH, url("in.hcp"), "--to", to, "--shard", "2/3", "--tmp-dir", bench.temporary]
        bench.done(*words, "-o", bench.folder / "rows" / to)
        bench.done(*words, "-o", url(f"rows/{to}"))
        here = {path.name: path.read_bytes() for path in (bench.folder / "rows" / to).iterdir()}
        same = comparable(bench.folder_of(f"rows/{to}")) == comparable(here)
        bench.report(f"a dataset as {to} is the same in a bucket", same and len(here) > 1)


def check_errors(bench):
    """Errors are reported soon, and state what to do."""
    silent = socket.socket()
    silent.bind(("127.0.0.1", 0))
    silent.listen()
    mute = f"http://127.0.0.1:{silent.getsockname()[1]}"
    closed = f"http://127.0.0.1:{free_port()}"
    here, out = url("in.hcp"), bench.folder / "never.hcp"
    nowhere = "s3://no-such-bucket/x"
    no_keys = {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None}
    to_bucket = bench.filter(ROOT / "data/sample.hcp", "-o", nowhere)
    for what, words, changes, message in [
        ("a missing object", ["inspect", url("none.hcp")], {}, "there is no such object"),
        ("a missing bucket", ["convert", nowhere + ".hcp", "-o", out], {}, "no such bucket"),
        ("a missing bucket to write to", to_bucket, {}, f"cannot write {nowhere}"),
        ("a missing bucket to look at", ["status", nowhere], {}, "there is no such bucket"),
        ("no credentials", ["inspect", here], no_keys, "there are no credentials"),
        ("denied access", ["inspect", here], {"AWS_SKIP_SIGNATURE": "true"}, "access was denied"),
        ("an endpoint without a server", ["inspect", here], {"AWS_ENDPOINT_URL": closed}, "AWS_ENDPOINT_URL"),
        ("an endpoint that does not answer", ["inspect", here], {"AWS_ENDPOINT_URL": mute}, "AWS_ENDPOINT_URL"),
        ("an invalid endpoint", ["inspect", here], {"AWS_ENDPOINT_URL": "127.0.0.1:1"}, "is not a URL"),
        ("an invalid key", ["inspect", url("a//b.hcp")], {}, "empty path segment"),
        ("an unknown scheme", ["inspect", "https://host/a.hcp"], {}, "s3://, gs://, az://"),
    ]:
        started = time.time()
        process = bench.run(*words, **changes)
        seconds = time.time() - started
        never = any(words in process.err for words in ("panicked", "the complete outputs are in"))
        fine = process.returncode in (1, 2) and message in process.err and not never
        bench.report(f"{what} is reported in {seconds:.1f} s", fine and seconds < 30, process.err)
    silent.close()


def wait_for(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise SystemExit("the condition was not met in time")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    parser.add_argument("--only", help="run only the check of this name", default="")
    options = parser.parse_args()
    if not options.kyokumen.is_file():
        print(f"{options.kyokumen} is missing", file=sys.stderr)
        return 2
    checks = [check_convert, check_shards, check_sets, check_moved, check_ranges, check_disturbed]
    checks += [check_changed, check_interrupted, check_resume, check_other_machine, check_dataset]
    checks += [check_errors]
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        bench = Bench(options.kyokumen.resolve(), server, pathlib.Path(folder))
        bench.put("in.hcp", sample()[: 600 * 32])
        (bench.folder / "sample.hcp").write_bytes(sample(400))
        for check in checks:
            if options.only in check.__name__:
                check(bench)
        print("all correct" if bench.failures == 0 else f"{bench.failures} failures")
        return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
