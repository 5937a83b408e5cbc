#!/usr/bin/env python3
"""Judges what stands in `configs/kubernetes/`: the Jobs by the API's schema, the Containerfile by hadolint.

The schema is that of every version since the Jobs' fields exist, and fields that it does not know are refused. It
says little of words and of what goes together, so that is looked at here. Then the commands of the Jobs are run, with
the exit statuses treated as the Job's own rules say: a shard with a bad record, one that is interrupted and a wrong
option. The shards, joined by the command of the other Job, must be what a run without shards makes, byte for byte.
Of all that can be refused a broken copy must be.

The image is not built: that takes base images and an engine for containers.

Exit status 0: all right, 1: something is wrong, 2: something is missing.

    python3 -m venv .venv && .venv/bin/pip install -r tests/engines/requirements.txt
    cargo build --release && .venv/bin/python tests/engines/kubernetes.py
"""

import copy
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

import kubernetes_validate
import yaml
from kubernetes_validate.utils import all_versions

from programs import ROOT, Wrong, call, environment, generate, try_out

CONFIGS = ROOT / "configs/kubernetes"
CONTAINERFILE = CONFIGS / "Containerfile"

# Since this version all fields are known without asking for them.
FIRST_VERSION = (1, 29)

POSITIONS = 2000
SEARCH = ["--nodes", "100000"]
# Its shard has 200 records: the eighth.
BAD_RECORD = 1500
MOST_PODS = 5

BREAKS = {
    "completionMode: Indexed": "completionMode: indexed",
    "completions: 10": "completions: ten",
    "backoffLimitPerIndex": "backOffLimitPerIndex",
    "podReplacementPolicy: Failed": "podReplacementPolicy: TerminatingOrFailed",
    "type: DisruptionTarget": "type: Disrupted",
    "action: FailJob": "action: Fail",
    "containerName: gen-filter": "containerName: filter",
    "operator: In": "operator: Equals",
    "values: [2]": "values: [0, 2]",
    "[129, 130, 143]": "[143, 130, 129]",
    "restartPolicy: Never": "restartPolicy: OnFailure",
    "terminationGracePeriodSeconds: 60": "terminationGracePeriodSeconds: 1m",
    "fsGroupChangePolicy: OnRootMismatch": "fsGroupChangePolicy: Once",
    "type: RuntimeDefault": "type: Default",
    "runAsUser: 65532": "runAsUser: 1000",
    "image: kyokumen:0.1.0": "image: kyokumen:latest",
    "            - gen-filter\n": "            - gen_filter\n",
    "auto/10": "auto/11",
    "resource: limits.cpu": "resource: limits.cpus",
    "drop: [ALL]": "drop: ALL",
    "- name: data\n              mountPath": "- name: datum\n              mountPath",
    "claimName": "claim",
}
CONTAINERFILE_BREAKS = {
    "FROM debian:bookworm-slim": "FROM debian",
    "WORKDIR /data": "WORKDIR data",
    "COPY src src": "ADD src src",
    "COPY benches benches\n": "",
    "USER 65532:65532\n": "",
    "release/kyokumen ": "release/kyokumen2 ",
}

# Fields whose values are words that the schema explains but does not list as such.
WORDS = {"completionMode", "podReplacementPolicy", "action", "operator", "restartPolicy", "fsGroupChangePolicy"}


def check(programs):
    judge_files()
    with tempfile.TemporaryDirectory(prefix="kyokumen-kubernetes-") as folder:
        run_jobs(pathlib.Path(folder), environment(programs))


def judge_files():
    run, merge = ((CONFIGS / name).read_text() for name in ("gen-filter.yaml", "merge.yaml"))
    versions = [v for v in all_versions() if version(v) >= FIRST_VERSION]
    for text in (run, merge):
        judge_job(text, versions)
    for good, bad in BREAKS.items():
        must_be_refused(run, good, bad, lambda text: judge_job(text, versions[:1]))
    print(f"valid       2 Jobs in Kubernetes {versions[0]} to {versions[-1]}; {len(BREAKS)} broken copies are not")
    containerfile = CONTAINERFILE.read_text()
    judge_containerfile(containerfile)
    for good, bad in CONTAINERFILE_BREAKS.items():
        must_be_refused(containerfile, good, bad, judge_containerfile)
    print(f"valid       the Containerfile; {len(CONTAINERFILE_BREAKS)} broken copies are not")


def version(text):
    return tuple(int(number) for number in text.split(".")[:2])


def must_be_refused(text, good, bad, judge):
    if good not in text:
        raise Wrong(f"{good!r} stands nowhere: it cannot be broken")
    try:
        judge(text.replace(good, bad))
    except Wrong:
        return
    raise Wrong(f"{bad!r} instead of {good!r} is not refused")


def judge_job(text, versions):
    [job] = yaml.safe_load_all(text)
    for each in versions:
        try:
            used = kubernetes_validate.validate(job, each, strict=True)
        except kubernetes_validate.ValidationError as error:
            place = ".".join(str(step) for step in error.path)
            raise Wrong(f"{each}: {place}: {error.message}") from None
        if version(used) != version(each):
            raise Wrong(f"the schema of {each} is that of {used}")
    judge_words(job, schema_of_job(versions[0]))
    judge_spec(job["spec"])


def schema_of_job(of_version):
    folder = pathlib.Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema"
    path = folder / f"v{of_version}-local-strict" / "_definitions.json"
    definitions = json.loads(path.read_text())["$defs"]

    def resolve(schema):
        """The fields of an object, or of each in a list."""
        schema = schema.get("items", schema)
        return definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    return resolve, definitions["io.k8s.api.batch.v1.Job"]


def judge_words(value, schema):
    """Values of fields that take words are among the words with which their descriptions explain them."""
    resolve, fields = schema
    for name, field in value.items():
        known = fields.get("properties", {}).get(name, {})
        of_objects = field if isinstance(field, list) else [field]
        for each in of_objects:
            if isinstance(each, dict):
                judge_words(each, (resolve, resolve(known)))
        takes_words = name in WORDS or name == "type" and "seccomp" in known.get("description", "")
        if takes_words and not re.search(rf"\b{field}\b", known["description"]):
            raise Wrong(f"{name}: {field} is none of the words")


def judge_spec(spec):
    """What the API asks for beyond the schema, and what of other files is said again here."""
    pod = spec["template"]["spec"]
    [container] = pod["containers"]
    # Behind a shell's script stands the program that it runs.
    command = container["command"]
    program = command[3] if command[0] == "sh" else command[0]
    image = CONTAINERFILE.read_text()
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    name, version = cargo["package"]["name"], cargo["workspace"]["package"]["version"]
    user = "{runAsUser}:{runAsGroup}".format(**pod["securityContext"])
    shards = [a.rpartition("/")[2] for a in container["args"] if a.startswith("--shard")]
    rules = spec.get("podFailurePolicy", {}).get("rules", [])
    exits = [rule["onExitCodes"] for rule in rules if "onExitCodes" in rule]
    conditions = {condition["type"] for rule in rules for condition in rule.get("onPodConditions", [])}
    resources = [entry["valueFrom"]["resourceFieldRef"]["resource"] for entry in container.get("env", [])]
    limits = {f"limits.{name}" for name in container["resources"]["limits"]}
    demands = {
        "an exit status in rules asks for Pods that are not restarted in place": pod["restartPolicy"] == "Never",
        "and for replacement of failed ones only": spec["podReplacementPolicy"] == "Failed",
        "exit statuses stand in order, without 0": all(
            codes["values"] == sorted(set(codes["values"])) and 0 not in codes["values"] for codes in exits
        ),
        "rules name the container": all(codes["containerName"] == container["name"] for codes in exits),
        "conditions of Pods are known": conditions <= {"DisruptionTarget"},
        "as many completions as shards": [str(spec.get("completions"))] == shards or not shards,
        "variables are limits": set(resources) <= limits,
        "mounts are volumes": {m["name"] for m in container["volumeMounts"]} <= {v["name"] for v in pod["volumes"]},
        "the image is of this version": container["image"] == f"{name}:{version}",
        "the image has the program": f"/{program} " in image,
        "the image has the user": f"\nUSER {user}\n" in image,
    }
    for demand, is_met in demands.items():
        if not is_met:
            raise Wrong(f"not met: {demand}")


def judge_containerfile(text):
    hadolint = pathlib.Path(sys.executable).parent / "hadolint"
    command = [hadolint, "--no-color", "--failure-threshold", "style", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Wrong(f"hadolint: {done.stdout}{done.stderr}".strip())
    copied = [line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY ") and "--from" not in line]
    copied = {name for names in copied for name in names}
    missing = [name for name in copied if not (ROOT / name).exists()]
    if missing:
        raise Wrong(f"there is no {', '.join(missing)} to be copied")
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    members = {member.split("/")[0] for member in cargo["workspace"]["members"]}
    needed = {"Cargo.toml", "Cargo.lock", "src"} | members
    if copied != needed:
        raise Wrong(f"copied are {copied}, needed {needed}")
    built = {f"/target/release/{binary['name']} " for binary in cargo["bin"]}
    if not all(binary in text for binary in built):
        raise Wrong("not all programs are in the image")
    if not re.search(r"^USER [1-9]\d*:[1-9]\d*$", text, re.MULTILINE):
        raise Wrong("the user has no number, or is root")


def run_jobs(folder, env):
    job, merge = (yaml.safe_load((CONFIGS / name).read_text()) for name in ("gen-filter.yaml", "merge.yaml"))
    generate(folder / "positions.hcp", POSITIONS, env, bad_record=BAD_RECORD)
    local = ["gen-filter", "positions.hcp", "-o", "local", *SEARCH, "--progress", "none"]
    call(*local, cwd=folder, env=env, statuses=[3])
    pod = Pod(folder, env)
    wrong = copy.deepcopy(job)
    wrong["spec"]["template"]["spec"]["containers"][0]["args"].append("--nodes=none")
    if action(job, pod.run(wrong, 0)) != "FailJob":
        raise Wrong("a wrong option does not end the Job")
    replaced = {}
    for index in range(job["spec"]["completions"]):
        # The first ones, until one is not done before the signal reaches it.
        replaced[index] = run_index(pod, job, index, is_interrupted=143 not in replaced.values())
    if set(replaced.values()) != {None, 143}:
        raise Wrong(f"exit statuses of Pods that were replaced: {replaced}")
    bad = BAD_RECORD * len(replaced) // POSITIONS
    quarantined = [path.name for path in (folder / "clean").glob("*.quarantine.bin") if path.stat().st_size > 0]
    if quarantined != [f"positions-{bad + 1:05}-of-{len(replaced):05}.quarantine.bin"]:
        raise Wrong(f"bad records are in {quarantined}, not in that of shard {bad + 1}")
    if pod.run(merge) != 0:
        raise Wrong("the shards are not joined")
    if (folder / "clean.hcp").read_bytes() != (folder / "local/positions.hcp").read_bytes():
        raise Wrong("the shards joined are not what a run without shards makes")
    print(f"equal       {len(replaced)} shards of {POSITIONS} positions joined, and a run without shards")


def run_index(pod, job, index, is_interrupted):
    """Starts Pods until one is done; with what status the one before it ended."""
    before = None
    for _ in range(MOST_PODS):
        status = pod.run(job, index, is_interrupted and before is None)
        if status == 0:
            return before
        if action(job, status) != "Ignore":
            raise Wrong(f"index {index} fails with exit status {status}")
        before = status
    raise Wrong(f"index {index} comes to no end")


def action(job, status):
    """What the Job does about a container that ended with this status."""
    for rule in job["spec"]["podFailurePolicy"]["rules"]:
        if status in rule.get("onExitCodes", {}).get("values", []):
            return rule["action"]
    return "Count"


class Pod:
    """Runs the command of a container here, in a folder that stands for the volume."""

    def __init__(self, folder, env):
        self.folder = folder
        self.env = env

    def run(self, job, index=None, is_interrupted=False):
        [container] = job["spec"]["template"]["spec"]["containers"]
        variables = {} if index is None else {"JOB_COMPLETION_INDEX": str(index)}
        for entry in container.get("env", []):
            _, resource = entry["valueFrom"]["resourceFieldRef"]["resource"].split(".")
            variables[entry["name"]] = container["resources"]["limits"][resource]
        command = [*container["command"], *container["args"]]
        for name, value in variables.items():
            command = [argument.replace(f"$({name})", value) for argument in command]
        if index is not None:
            command += SEARCH
        process = subprocess.Popen(command, cwd=self.folder, env=self.env | variables, stderr=subprocess.PIPE)
        if is_interrupted:
            while process.poll() is None and not list(self.folder.glob("clean/*.lock")):
                time.sleep(0.001)
            process.send_signal(signal.SIGTERM)
        process.communicate()
        return process.returncode


if __name__ == "__main__":
    sys.exit(try_out(__doc__, check))
