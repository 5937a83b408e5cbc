#!/usr/bin/env python3
"""Checks the files in `configs/kubernetes/`: the Jobs with the API's schema, the Containerfile with hadolint.

The schemas are those of all versions that have the fields of the Jobs. Unknown fields are refused. The schemas do not
cover enumerated values and dependencies between fields, so these are checked here. Then the commands of the Jobs run,
and exit statuses are handled by the rules of the Job: for a shard with a bad record, an interrupted shard and a wrong
option. The shards, joined by the command of the other Job, must equal a run without shards byte for byte. For every
check, a broken copy of the file must be refused.

The image is not built, because that needs base images and a container engine.

Exit status 0: all correct, 1: something is wrong, 2: something is missing.

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

# Since this version all fields are enabled by default.
FIRST_VERSION = (1, 29)

POSITIONS = 2000
SEARCH = ["--nodes", "100000"]
# In the eighth shard. Each shard has 200 records.
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

# Fields with enumerated values, which the schema describes in words but does not list.
ENUMERATIONS = {"completionMode", "podReplacementPolicy", "action", "operator", "restartPolicy", "fsGroupChangePolicy"}


def check(programs):
    check_files()
    with tempfile.TemporaryDirectory(prefix="kyokumen-kubernetes-") as folder:
        run_jobs(pathlib.Path(folder), environment(programs))


def check_files():
    names = ("gen-filter.yaml", "gen-filter-s3.yaml", "merge.yaml", "merge-s3.yaml")
    run, *others = ((CONFIGS / name).read_text() for name in names)
    versions = [v for v in all_versions() if version(v) >= FIRST_VERSION]
    for text in (run, *others):
        check_job(text, versions)
    for good, bad in BREAKS.items():
        must_be_refused(run, good, bad, lambda text: check_job(text, versions[:1]))
    supported = f"{versions[0]} to {versions[-1]}"
    print(f"valid       {len(names)} Jobs in Kubernetes {supported}; {len(BREAKS)} broken copies are not")
    containerfile = CONTAINERFILE.read_text()
    check_containerfile(containerfile)
    for good, bad in CONTAINERFILE_BREAKS.items():
        must_be_refused(containerfile, good, bad, check_containerfile)
    print(f"valid       the Containerfile; {len(CONTAINERFILE_BREAKS)} broken copies are not")


def version(text):
    return tuple(int(number) for number in text.split(".")[:2])


def must_be_refused(text, good, bad, check_text):
    if good not in text:
        raise Wrong(f"the file does not contain {good!r}")
    try:
        check_text(text.replace(good, bad))
    except Wrong:
        return
    raise Wrong(f"{bad!r} instead of {good!r} is not refused")


def check_job(text, versions):
    [job] = yaml.safe_load_all(text)
    for each in versions:
        try:
            used = kubernetes_validate.validate(job, each, strict=True)
        except kubernetes_validate.ValidationError as error:
            place = ".".join(str(step) for step in error.path)
            raise Wrong(f"{each}: {place}: {error.message}") from None
        if version(used) != version(each):
            raise Wrong(f"for {each}, the schema of {used} was used")
    check_enumerations(job, schema_of_job(versions[0]))
    check_spec(job["spec"])


def schema_of_job(version_text):
    folder = pathlib.Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema"
    path = folder / f"v{version_text}-local-strict" / "_definitions.json"
    definitions = json.loads(path.read_text())["$defs"]

    def resolve(schema):
        """The fields of an object, or of each in a list."""
        schema = schema.get("items", schema)
        return definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    return resolve, definitions["io.k8s.api.batch.v1.Job"]


def check_enumerations(value, schema):
    """Checks that enumerated values occur in the descriptions of their fields."""
    resolve, fields = schema
    for name, field in value.items():
        known = fields.get("properties", {}).get(name, {})
        values = field if isinstance(field, list) else [field]
        for each in values:
            if isinstance(each, dict):
                check_enumerations(each, (resolve, resolve(known)))
        is_enumerated = name in ENUMERATIONS or name == "type" and "seccomp" in known.get("description", "")
        if is_enumerated and not re.search(rf"\b{field}\b", known["description"]):
            raise Wrong(f"{name}: {field} is not a known value")


def check_spec(spec):
    """Checks requirements of the API beyond the schema, and values that other files repeat."""
    pod = spec["template"]["spec"]
    [container] = pod["containers"]
    # After the script of a shell comes the program that it runs.
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
    requirements = {
        "rules with exit statuses need Pods that are not restarted in place": pod["restartPolicy"] == "Never",
        "only failed Pods are replaced": spec["podReplacementPolicy"] == "Failed",
        "exit statuses are sorted, without 0": all(
            codes["values"] == sorted(set(codes["values"])) and 0 not in codes["values"] for codes in exits
        ),
        "rules name the container": all(codes["containerName"] == container["name"] for codes in exits),
        "conditions of Pods are known": conditions <= {"DisruptionTarget"},
        "there are as many completions as shards": [str(spec.get("completions"))] == shards or not shards,
        "variables are limits": set(resources) <= limits,
        "mounts are volumes": {m["name"] for m in container.get("volumeMounts", [])}
        <= {v["name"] for v in pod.get("volumes", [])},
        "the image is of this version": container["image"] == f"{name}:{version}",
        "the image has the program": f"/{program} " in image,
        "the image has the user": f"\nUSER {user}\n" in image,
    }
    for requirement, is_met in requirements.items():
        if not is_met:
            raise Wrong(f"not met: {requirement}")


def check_containerfile(text):
    hadolint = pathlib.Path(sys.executable).parent / "hadolint"
    command = [hadolint, "--no-color", "--failure-threshold", "style", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Wrong(f"hadolint: {done.stdout}{done.stderr}".strip())
    copied = [line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY ") and "--from" not in line]
    copied = {name for names in copied for name in names}
    missing = [name for name in copied if not (ROOT / name).exists()]
    if missing:
        raise Wrong(f"files to be copied are missing: {', '.join(missing)}")
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    members = {member.split("/")[0] for member in cargo["workspace"]["members"]}
    needed = {"Cargo.toml", "Cargo.lock", "src"} | members
    if copied != needed:
        raise Wrong(f"{copied} are copied, but {needed} are needed")
    built = {f"/target/release/{binary['name']} " for binary in cargo["bin"]}
    if not all(binary in text for binary in built):
        raise Wrong("not all programs are in the image")
    if not re.search(r"^USER [1-9]\d*:[1-9]\d*$", text, re.MULTILINE):
        raise Wrong("the user is not given by number, or it is root")


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
        # The first shards are interrupted, until the signal arrives before the end of one.
        replaced[index] = run_index(pod, job, index, is_interrupted=143 not in replaced.values())
    if set(replaced.values()) != {None, 143}:
        raise Wrong(f"unexpected exit statuses of replaced Pods: {replaced}")
    bad = BAD_RECORD * len(replaced) // POSITIONS
    quarantined = [path.name for path in (folder / "clean").glob("*.quarantine.bin") if path.stat().st_size > 0]
    if quarantined != [f"positions-{bad + 1:05}-of-{len(replaced):05}.quarantine.bin"]:
        raise Wrong(f"bad records are in {quarantined}, not in the file of shard {bad + 1}")
    if pod.run(merge) != 0:
        raise Wrong("the shards are not joined")
    if (folder / "clean.hcp").read_bytes() != (folder / "local/positions.hcp").read_bytes():
        raise Wrong("the joined shards differ from a run without shards")
    print(f"equal       {len(replaced)} joined shards of {POSITIONS} positions and a run without shards")


def run_index(pod, job, index, is_interrupted):
    """Starts Pods until one succeeds. Returns the exit status of the Pod before it, if any."""
    before = None
    for _ in range(MOST_PODS):
        status = pod.run(job, index, is_interrupted and before is None)
        if status == 0:
            return before
        if action(job, status) != "Ignore":
            raise Wrong(f"index {index} fails with exit status {status}")
        before = status
    raise Wrong(f"index {index} does not end")


def action(job, status):
    """The action of the Job for a container that ended with this status."""
    for rule in job["spec"]["podFailurePolicy"]["rules"]:
        if status in rule.get("onExitCodes", {}).get("values", []):
            return rule["action"]
    return "Count"


class Pod:
    """Runs the command of a container here, in a folder in place of the volume."""

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
