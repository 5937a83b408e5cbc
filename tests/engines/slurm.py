#!/usr/bin/env python3
"""Runs the job scripts of `configs/slurm/` on a Slurm cluster of one node, which it starts and stops.

Ten array tasks filter positions of random games. A separate array starts one shard and is cancelled; it must stay
cancelled. Of the tasks with a checkpoint, one is killed, one is requeued by `scontrol requeue` as after a preemption,
and one gets the signal that its time is up. All three must restart, and all four shards must resume. The outputs,
joined by jobs that depend on the array, must equal a local run without shards byte for byte.

The cluster uses a temporary folder and the loopback device. It needs neither systemd nor cgroups, nor the users `slurm`
and `munge`. The Debian packages are installed if they are missing, which needs root.

Exit status 0: all correct, 1: something is wrong (the logs of the cluster are printed), 2: something is missing.

    cargo build --release && python3 tests/engines/slurm.py
"""

import contextlib
import ctypes
import json
import os
import pathlib
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
import time

from programs import ROOT, Wrong, call, environment, generate, install, try_out

SCRIPTS = ROOT / "configs/slurm"

PACKAGES = ["slurm-wlm", "munge"]
PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "sinfo", "squeue"]

# Nothing here is measured. A machine that takes longer for a single step counts as stuck.
PATIENCE_S = 300
LOOK_S = 0.1

TASKS = 10
# More than most machines have, so that tasks run at the same time. Slurm is configured to accept it.
CPUS = 4
# Slurm delays requeued jobs by this time (120 s by default). A launch must not take longer.
REQUEUE_S = 20
INPUT = "positions.hcp"
POSITIONS = 12_000
SEARCH = ["--nodes", "100000", "--depth", "31"]
# In the sixth of ten shards. Its task ends with status 3, which must not stop the others.
BAD_RECORD = 6600
# The shard that starts before the others.
CANCELLED = 9
STREAMS = ["kept", "mated", "mated_lines", "quarantine", "quarantine_lines"]

PR_SET_CHILD_SUBREAPER = 36

CONFIGURATION = """\
ClusterName=kyokumen
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={slurmctld_port}
SlurmdPort={slurmd_port}
CommunicationParameters=NoInAddrAny
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge.socket,cred_expire={requeue_s}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
MessageTimeout=60
MailProg=/bin/true
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=2
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
MinJobAge=3600
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=100000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def check(programs):
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    install(PACKAGES, PROGRAMS)
    with tempfile.TemporaryDirectory(prefix="kyokumen-slurm-") as folder:
        folder = pathlib.Path(folder).resolve()
        work = folder / "work"
        work.mkdir()
        env = environment(programs, SLURM_CONF=str(folder / "slurm.conf"))
        expected = local_run(work, env)
        with Cluster(folder, env) as cluster:
            run = Run(cluster, work)
            run.begin_and_cancel()
            run.submit()
            run.disturb()
            run.wait()
            run.judge(expected)


def local_run(work, env):
    """Writes the input, and returns the outputs of a run without shards."""
    generate(work / INPUT, POSITIONS, env, bad_record=BAD_RECORD)
    started = time.monotonic()
    command = ["gen-filter", INPUT, "-o", "local", *SEARCH, "--progress", "none"]
    call(*command, env=env, cwd=work, statuses=[3])
    print(f"local       {POSITIONS} positions in {time.monotonic() - started:.0f} s")
    manifest = json.loads((work / "local/positions.manifest.json").read_text())
    outputs = {output["stream"]: output["file"] for output in manifest["outputs"]}
    expected = {stream: (work / "local" / outputs[stream]).read_bytes() for stream in STREAMS}
    for stream, content in expected.items():
        if not content:
            raise Wrong(f"the output {stream} is empty, so nothing would be compared")
    return expected


def wait_for(what, condition):
    """Waits until the condition is true and returns its value."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if answer := condition():
            return answer
        time.sleep(LOOK_S)
    raise Wrong(f"waited {PATIENCE_S} s for {what}")


class Cluster:
    """A Slurm cluster: munged, slurmctld and slurmd, in a folder."""

    def __init__(self, folder, env):
        self.folder = folder
        self.env = env
        self.daemons = []

    def __enter__(self):
        # Processes that the daemons leave become children of this process, and are found at the end.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        try:
            self.start()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def start(self):
        host = socket.gethostname().split(".")[0]
        slurmctld_port, slurmd_port = free_ports(2)
        configuration = CONFIGURATION.format(
            host=host,
            slurmctld_port=slurmctld_port,
            slurmd_port=slurmd_port,
            user=pwd.getpwuid(os.geteuid()).pw_name,
            folder=self.folder,
            cpus=CPUS,
            requeue_s=REQUEUE_S,
        )
        (self.folder / "slurm.conf").write_text(configuration)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        # --force: the parent folder may be writable by everybody.
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        places = [f"--{option}={self.folder}/munge.{suffix}" for option, suffix in files.items()]
        self.daemon("munged", "--foreground", "--force", *places)
        wait_for("munged", lambda: self.is_alive() and (self.folder / "munge.socket").exists())
        self.daemon("slurmctld", "-D")
        self.daemon("slurmd", "-D")
        wait_for("an idle node", lambda: self.is_alive() and "idle" in self.ask("sinfo", "-h", "-o", "%T"))
        print(f"cluster     {self.call('sinfo', '--version').strip()}, one node, {CPUS} CPUs")

    def daemon(self, *command):
        log = self.folder / f"{command[0]}.out"
        with open(log, "wb") as file:
            daemon = subprocess.Popen(
                command,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.daemons.append((command[0], daemon))

    def is_alive(self):
        for name, daemon in self.daemons:
            if daemon.poll() is not None:
                raise Wrong(f"{name} ended with status {daemon.returncode}")
        return True

    def ask(self, *command):
        """Standard output of a command. Empty if the command fails, for example before the daemons answer."""
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    def call(self, *command, variables=None, **options):
        return call(*command, env=self.env | (variables or {}), **options)

    def __exit__(self, kind, *_):
        if kind is not None:
            self.print_logs()
        for _, daemon in reversed(self.daemons):
            daemon.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(timeout=30)
        # Steps of jobs outlive slurmd. Steps of unfinished jobs are left only after a failure.
        while left := children():
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process, 0)

    def print_logs(self):
        logs = [self.folder / f"{name}.out" for name, _ in self.daemons]
        logs += [self.folder / "munge.log", *sorted((self.folder / "work").glob("*.log"))]
        for log in logs:
            if log.is_file():
                lines = log.read_text(errors="replace").splitlines()
                print(f"-- {log.name}", *lines[-60:], sep="\n", file=sys.stderr)


def free_ports(number):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def children():
    """Processes whose parent is this one."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # After the name in brackets, which may contain any characters, come state and parent.
            if int(stat.read_text(errors="replace").rpartition(")")[2].split()[1]) == os.getpid():
                found.append(int(stat.parent.name))
    return found


class Run:
    """An array of tasks, and the merges that depend on it."""

    def __init__(self, cluster, work):
        self.cluster = cluster
        self.work = work
        self.merges = []
        self.disturbed = set()
        self.restarted = set()

    def begin_and_cancel(self):
        """Starts a single task of ten and cancels it. It ends like a task whose time is up, but must not restart."""
        self.array = self.submit_tasks(CANCELLED, {"KYOKUMEN_SHARDS": str(TASKS)})
        shard, process = wait_for("a task to be cancelled", self.catch)
        self.cluster.call("scancel", self.array)
        os.kill(process, signal.SIGCONT)
        wait_for("an empty queue", lambda: not self.queue())
        [job] = self.jobs()
        if job["JobState"] != "CANCELLED" or job["Restarts"] != "0":
            raise Wrong(f"a cancelled job is {job['JobState']} with {job['Restarts']} restarts")
        self.print_shard("cancelled", shard)

    def submit(self):
        self.array = self.submit_tasks(f"1-{TASKS}")
        depend = ["--parsable", f"--dependency=afterok:{self.array}", "--kill-on-invalid-dep=yes"]
        merge = [*depend, SCRIPTS / "merge.sbatch", "clean", "--stream"]
        self.merges = [self.sbatch(*merge, stream, "-o", f"merged.{stream}") for stream in STREAMS]
        print(f"array       job {self.array}, {TASKS} tasks; merges jobs {', '.join(self.merges)}")

    def submit_tasks(self, tasks, variables=None):
        options = ["--parsable", f"--array={tasks}", "--cpus-per-task=1"]
        arguments = [INPUT, "-o", "clean", *SEARCH, "--checkpoint-every", "0.3"]
        return self.sbatch(*options, SCRIPTS / "shard.sbatch", "gen-filter", *arguments, variables=variables)

    def sbatch(self, *arguments, **options):
        return self.cluster.call("sbatch", *arguments, cwd=self.work, **options).strip()

    def disturb(self):
        """Kills, requeues and warns one task each. Each step waits for a task with a checkpoint."""
        for what, how in [("killed", self.kill), ("requeued", self.requeue), ("out of time", self.warn)]:
            shard, process = wait_for(f"a task to be {what}", self.catch)
            how(shard["shard"].split("/")[0], process)
            self.restarted.add(shard["shard"])
            self.print_shard(what, shard)

    def print_shard(self, what, shard):
        self.disturbed.add(shard["shard"])
        print(f"{what:<11} task {shard['shard']}, after {shard['done']} of {shard['records']} records")

    def catch(self):
        """A shard and its process, which is stopped so that it cannot end meanwhile."""
        for shard in self.status():
            if not self.is_fit(shard):
                continue
            process = shard["holder"]["pid"]
            try:
                os.kill(process, signal.SIGSTOP)
            except ProcessLookupError:
                continue
            again = next(each for each in self.status() if each["shard"] == shard["shard"])
            if self.is_fit(again) and again["holder"] == shard["holder"]:
                return again, process
            os.kill(process, signal.SIGCONT)
        return self.is_running() and None

    def is_fit(self, shard):
        """Whether the shard runs for the first time, has a checkpoint, and is far from its end."""
        is_new = shard["shard"] not in self.disturbed
        return is_new and shard["state"] == "running" and 0 < shard["done"] < 0.6 * shard["records"]

    def kill(self, _, process):
        os.kill(process, signal.SIGKILL)

    def requeue(self, task, process):
        self.cluster.call("scontrol", "requeue", f"{self.array}_{task}")
        os.kill(process, signal.SIGCONT)

    def warn(self, task, process):
        """Sends the signal of the script's --signal before the time is up."""
        self.cluster.call("scancel", "--batch", "--signal=USR1", f"{self.array}_{task}")
        os.kill(process, signal.SIGCONT)

    def is_running(self):
        if not self.queue():
            raise Wrong("all tasks ended before they could be disturbed")
        return True

    def queue(self):
        self.cluster.is_alive()
        return self.cluster.call("squeue", "-h", "-r", "-o", "%i %T").splitlines()

    def wait(self):
        """Waits for all jobs. Slurm delays requeued tasks."""
        wait_for("an empty queue", lambda: not self.queue())

    def status(self):
        folder = self.work / "clean"
        if not folder.is_dir():
            return []
        runs = self.cluster.call("kyokumen", "status", folder, "--json").splitlines()
        return [shard for run in runs for shard in json.loads(run)["shards"]]

    def judge(self, expected):
        self.judge_jobs()
        self.judge_shards()
        for stream, content in expected.items():
            if (self.work / f"merged.{stream}").read_bytes() != content:
                raise Wrong(f"the joined shards differ from the output {stream} of the local run")
        print(f"equal       {', '.join(expected)} of {TASKS} joined shards and of the local run")

    def judge_jobs(self):
        restarts = {}
        for job in self.jobs():
            if job["JobState"] != "COMPLETED" or job["ExitCode"] != "0:0":
                raise Wrong(f"job {job['JobId']} is {job['JobState']}, {job['ExitCode']}")
            if "ArrayTaskId" in job:
                restarts[f"{job['ArrayTaskId']}/{TASKS}"] = int(job["Restarts"])
        wanted = {f"{i}/{TASKS}": int(f"{i}/{TASKS}" in self.restarted) for i in range(1, TASKS + 1)}
        if restarts != wanted:
            raise Wrong(f"restarts of the tasks are {restarts}, not {wanted}")

    def jobs(self):
        """The tasks of the last array, and the jobs that depend on it."""
        found = []
        for line in self.cluster.call("scontrol", "show", "job", "--oneliner").splitlines():
            job = dict(field.split("=", 1) for field in line.split() if "=" in field)
            if job.get("ArrayJobId") == self.array or job["JobId"] in self.merges:
                found.append(job)
        return found

    def judge_shards(self):
        shards = self.status()
        states = [(shard["shard"], shard["state"], shard["holder"]) for shard in shards]
        if states != [(f"{i}/{TASKS}", "done", None) for i in range(1, TASKS + 1)]:
            raise Wrong(f"status: {states}")
        if [shard["bad"] for shard in shards] != [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]:
            raise Wrong(f"status: {shards}")
        resumed = set()
        for path in (self.work / "clean").glob("*.manifest.json"):
            manifest = json.loads(path.read_text())
            if manifest["resumed_from"]:
                resumed.add(manifest["shard"])
        if resumed != self.disturbed:
            raise Wrong(f"the shards {resumed} were resumed, but {self.disturbed} were disturbed")
        left = [path.name for path in (self.work / "clean").iterdir() if "-of-00010." not in path.name]
        left += [path.name for path in (self.work / "clean").glob("*.partial")]
        if left:
            raise Wrong(f"unexpected files: {left}")


if __name__ == "__main__":
    sys.exit(try_out(__doc__, check))
