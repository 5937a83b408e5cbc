#!/usr/bin/env python3
"""Compares games that Kyokumen converts, as read by tsshogi, cshogi and python-shogi.

Games in KIF, KI2, CSA and JSON, from this script and from data/sample.*, are converted to kif, kifu, ki2, ki2u, csa and
jkf. tsshogi reads source and output. Start, moves, winner, ending, names, comments, times and variations must be the
same, if the format can hold them. cshogi and python-shogi read the kif, kifu and csa files. tsshogi comes from npm;
without npm and Node.js nothing is compared.

Exit status 0: all equal, or skipped, 1: a difference, 2: something is missing.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import cshogi
import shogi.CSA
import shogi.KIF
from cshogi import CSA, KIF

ROOT = pathlib.Path(__file__).resolve().parents[2]
TSSHOGI = "tsshogi@2.2.0"
TARGETS = ["kif", "kifu", "ki2", "ki2u", "csa", "jkf"]
ENCODINGS = {"kif": "cp932", "ki2": "cp932"}

HEAD = """開始日時：2026/11/25 10:00:00
終了日時：2026/11/25 11:30:00
棋戦：第一回試験戦
場所：東京
持ち時間：各30分
手合割：平手
先手：先手 太郎
後手：後手 花子
手数----指手---------消費時間--
"""
MOVES = """   1 ７六歩(77)   ( 0:12/00:00:12)
   2 ３四歩(33)   ( 1:05/00:01:05)
   3 ２二角成(88) ( 0:03/00:00:15)
   4 同　銀(31)   ( 0:00/00:01:05)
   5 ５五角打     (12:34/00:12:49)
"""
COMMENTED = HEAD + """*序文の一行目
*序文の二行目
   1 ７六歩(77)   ( 0:12/00:00:12)
*初手への注釈
   2 ３四歩(33)   ( 1:05/00:01:05)
   3 ６六歩(67)   ( 0:03/00:00:15)
*一行目
*二行目
   4 投了         ( 0:09/00:01:14)
まで3手で先手の勝ち
"""
BRANCHED = HEAD + """   1 ７六歩(77)   ( 0:12/00:00:12)+
   2 ３四歩(33)   ( 0:00/00:00:00)+
   3 ２六歩(27)   ( 0:00/00:00:12)
   4 ４四歩(43)   ( 0:00/00:00:00)
   5 投了         ( 0:00/00:00:12)
まで4手で後手の勝ち

変化：2手
   2 ８四歩(83)   ( 0:00/00:00:00)+
*変化への注釈
   3 ６八銀(79)   ( 0:00/00:00:00)+
   4 ３四歩(33)   ( 0:00/00:00:00)

変化：3手
   3 ２六歩(27)   ( 0:00/00:00:00)
   4 ８五歩(84)   ( 0:00/00:00:00)

変化：2手
   2 ４四歩(43)   ( 0:00/00:00:00)

変化：1手
   1 ２六歩(27)   ( 0:00/00:00:00)
   2 ８四歩(83)   ( 0:00/00:00:00)
"""
HANDICAPS = ["香落ち", "右香落ち", "角落ち", "飛車落ち", "飛香落ち", "二枚落ち", "四枚落ち", "六枚落ち", "八枚落ち", "十枚落ち"]
HANDICAP = """手合割：{}
下手：下手
上手：上手
手数----指手---------消費時間--
   1 ５二玉(51)   ( 0:01/00:00:01)
   2 ７六歩(77)   ( 0:02/00:00:02)
   3 中断         ( 0:00/00:00:01)
まで2手で中断
"""
DIAGRAM = """後手の持駒：飛　角二　金四　銀三　桂四　香四　歩十六
  ９ ８ ７ ６ ５ ４ ３ ２ １
+---------------------------+
| ・ ・ ・ ・ ・ ・ ・ ・v玉|一
| ・ ・ ・ ・ ・ ・ ・ ・ ・|二
| ・ ・ ・ ・ ・ ・ ・ 歩v歩|三
| ・ ・ ・ ・ ・ ・ ・ 銀 ・|四
| ・ ・ ・ ・ ・ ・ ・ ・ ・|五
| ・ ・ ・ ・ ・ ・ ・ ・ ・|六
| ・ ・ ・ ・ ・ ・ ・ ・ ・|七
| ・ ・ ・ ・ ・ ・ ・ ・ ・|八
| 龍 ・ ・ ・ ・ ・ ・ ・ 玉|九
+---------------------------+
先手の持駒：
先手：
後手：
手数----指手---------消費時間--
   1 ２二歩成(23) ( 0:00/00:00:00)
   2 同　玉(11)   ( 0:00/00:00:00)
   3 ３三銀(24)   ( 0:00/00:00:00)
   4 投了         ( 0:00/00:00:00)
まで3手で先手の勝ち
"""
WORDS = {  # Endings of the game of MOVES, for its sixth line and its summary.
    "resign": ("投了", "まで5手で先手の勝ち"),
    "mate": ("詰み", "まで5手で詰み"),
    "repetition": ("千日手", "まで5手で千日手"),
    "impasse": ("持将棋", "まで5手で持将棋"),
    "interruption": ("中断", "まで5手で中断"),
    "time_up": ("切れ負け", "まで5手で時間切れにより先手の勝ち"),
    "foul_win": ("反則勝ち", "まで5手で後手の反則勝ち"),
    "foul_loss": ("反則負け", "まで5手で後手の反則負け"),
    "declaration": ("入玉勝ち", "まで5手で後手の入玉勝ち"),
}
CSA_TEXT = """V2.2
N+Sente
N-Gote
$EVENT:Test event
$SITE:Tokyo
$START_TIME:2026/11/25 10:00:00
$END_TIME:2026/11/25 10:30:00
PI
+
'*before the game
+7776FU
T12
'*on the first move
-3334FU
T5
+8822UM
T1
-3122GI
T0
{}
"""
CSA_START = """V2.2
P1-KY-KE-GI-KI-OU-KI-GI-KE-KY
P2 *  *  *  *  *  *  * -KA * 
P3-FU-FU-FU-FU-FU-FU-FU-FU-FU
P4 *  *  *  *  *  *  *  *  * 
P5 *  *  *  *  *  *  *  *  * 
P6 *  *  *  *  *  *  *  *  * 
P7+FU+FU+FU+FU+FU+FU+FU+FU+FU
P8 * +KA *  *  *  *  * +HI * 
P9+KY+KE+GI+KI+OU+KI+GI+KE+KY
P+00HI
-
-7162GI
+7776FU
%CHUDAN
"""
CSA_MARKS = ["TORYO", "TSUMI", "SENNICHITE", "JISHOGI", "MAX_MOVES", "CHUDAN", "TIME_UP", "KACHI", "ILLEGAL_MOVE",
             "+ILLEGAL_ACTION", "-ILLEGAL_ACTION"]
KI2_TEXT = """棋戦：第一回試験戦
手合割：平手
先手：先手
後手：後手

*序文
▲７六歩    △３四歩    ▲２二角成  △同　銀    ▲５五角打
*注釈
△３三桂    ▲同角成    △同　銀
まで8手で先手の反則負け

変化：2手
△８四歩    ▲２六歩
"""
JKF_TEXT = json.dumps({
    "header": {"先手": "先手", "後手": "後手", "棋戦": "第一回試験戦", "備考": "改行なし"},
    "initial": {"preset": "HIRATE"},
    "moves": [
        {"comments": ["序文"]},
        {"move": {"color": 0, "from": {"x": 7, "y": 7}, "to": {"x": 7, "y": 6}, "piece": "FU"},
         "time": {"now": {"m": 0, "s": 12}, "total": {"h": 0, "m": 0, "s": 12}}, "comments": ["一", "二"]},
        {"move": {"color": 1, "from": {"x": 3, "y": 3}, "to": {"x": 3, "y": 4}, "piece": "FU"},
         "time": {"now": {"m": 1, "s": 5}, "total": {"h": 0, "m": 1, "s": 5}},
         "forks": [[{"move": {"color": 1, "from": {"x": 8, "y": 3}, "to": {"x": 8, "y": 4}, "piece": "FU"}},
                    {"move": {"color": 0, "from": {"x": 2, "y": 7}, "to": {"x": 2, "y": 6}, "piece": "FU"}}]]},
        {"move": {"color": 0, "from": {"x": 8, "y": 8}, "to": {"x": 2, "y": 2}, "piece": "KA", "capture": "KA",
                  "promote": True}, "time": {"now": {"m": 0, "s": 3}, "total": {"h": 0, "m": 0, "s": 15}}},
        {"special": "TORYO"},
    ],
}, ensure_ascii=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    options = parser.parse_args()
    if not options.kyokumen.is_file():
        print(f"{options.kyokumen} is missing; build it with cargo build --release", file=sys.stderr)
        return 2
    if not (shutil.which("npm") and shutil.which("node")):
        print("skipped: npm or node is missing")
        return 0
    packages = ROOT / "target/tsshogi"
    packages.mkdir(parents=True, exist_ok=True)
    install = ["npm", "install", "--prefix", packages, "--ignore-scripts", "--no-audit", "--no-fund", TSSHOGI]
    subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        failures = compare_games(options.kyokumen, packages, written_sources(folder), folder)
        failures += compare_samples(options.kyokumen, packages, folder)
    print("all equal" if failures == 0 else f"{failures} differ")
    return 1 if failures else 0


def sources():
    """Name, format and text of each game."""
    yield "commented", "kif", COMMENTED
    yield "branched", "kifu", BRANCHED
    yield "diagram", "kifu", DIAGRAM
    for name in HANDICAPS:
        yield name, "kif", HANDICAP.format(name)
    for name, (word, summary) in WORDS.items():
        yield name, "kifu", HEAD + MOVES + f"   6 {word}     ( 0:07/00:01:12)\n{summary}\n"
    yield "open", "kif", HEAD + MOVES
    for mark in CSA_MARKS:
        yield mark, "csa", CSA_TEXT.format("%" + mark)
    yield "pieces", "csa", CSA_START
    yield "words", "ki2u", KI2_TEXT
    yield "words", "ki2", KI2_TEXT
    yield "json", "jkf", JKF_TEXT


def written_sources(folder):
    """Name, format and path of each game, written to its file."""
    for number, (name, source, text) in enumerate(sources()):
        path = folder / f"source{number}.{source}"
        path.write_bytes(text.encode(ENCODINGS.get(source, "utf-8")))
        yield name, source, path


def compare_games(kyokumen, packages, games, folder):
    """Converts each game to each format and reads all with tsshogi, cshogi and python-shogi."""
    games, failures = list(games), 0
    expected = tsshogi(packages, [(path, source) for _, source, path in games])
    for target in TARGETS:
        paths = [folder / f"made{number}.{source}.{target}" for number, (_, source, _) in enumerate(games)]
        errors = [convert(kyokumen, path, made) for (_, _, path), made in zip(games, paths)]
        read = tsshogi(packages, [(path, target) for path in paths])
        for (name, source, _), path, error, wanted, found in zip(games, paths, errors, expected, read):
            differences = error or differing(wanted, found, source, target)
            if target in ("kif", "kifu", "csa") and not error:
                differences += by_python(path, wanted)
            failures += report(f"{name}: {source} as {target}", differences)
    return failures


def compare_samples(kyokumen, packages, folder):
    """Converts files of several games. The outputs are split into games for the comparison."""
    failures = 0
    for source in ("kif", "ki2", "csa"):
        texts = cut(decoded(ROOT / f"data/sample.{source}"), source)
        own = write_all(folder, f"sample-{source}", texts, source)
        expected = tsshogi(packages, [(path, source) for path in own])
        for target in TARGETS:
            made = folder / f"sample.{source}.{target}"
            if error := convert(kyokumen, ROOT / f"data/sample.{source}", made):
                failures += report(f"data/sample.{source} as {target}", error)
                continue
            texts = cut(decoded(made), target)
            paths = write_all(folder, f"made-{source}", texts, target)
            read = tsshogi(packages, [(path, target) for path in paths])
            differences = [] if len(read) == len(expected) else [f"games: {len(expected)} became {len(read)}"]
            for wanted, found in zip(expected, read):
                differences += differing(wanted, found, source, target)
            failures += report(f"data/sample.{source} as {target}, {len(expected)} games", differences)
    return failures


def decoded(path):
    return path.read_bytes().decode(ENCODINGS.get(path.suffix[1:], "utf-8"), "replace")


def cut(text, source):
    """The games of a file."""
    if source == "jkf":
        return text.splitlines()
    if source == "csa":
        return [game for game in text.split("\n/\n") if game.strip()]
    head = "手合割：平手\n"
    return [head + game for game in text.split(head)[1:]]


def write_all(folder, stem, texts, source):
    paths = [folder / f"{stem}{number}.{source}" for number in range(len(texts))]
    for path, text in zip(paths, texts):
        path.write_bytes(text.encode(ENCODINGS.get(source, "utf-8")))
    return paths


def tsshogi(packages, files):
    """The games that tsshogi reads from files of these formats."""
    lines = "\n".join(json.dumps([str(path), source]) for path, source in files)
    command = ["node", ROOT / "tests/interop/tsshogi_read.mjs", packages]
    answers = subprocess.run(command, input=lines, check=True, capture_output=True, text=True).stdout.splitlines()
    return [json.loads(answer) for answer in answers]


def differing(expected, found, source, target):
    """The differences between two games in the fields that `target` can hold."""
    for side, game in (("source", expected), ("output", found)):
        if "error" in game:
            return [f"tsshogi rejects the {side}: {game['error']}"]
    keys = ["start", "moves", "winner", "ending", "comments"]
    if not {source, target} & {"ki2", "ki2u"}:
        keys.append("times")
    if target != "csa":
        keys.append("lines")
    expected, found = (comparable(game, source, target) for game in (expected, found))
    return [f"{key}: {expected[key]} became {found[key]}" for key in keys if expected[key] != found[key]] + [
        f"{key}: {value} became {found['headers'].get(key)}"
        for key, value in expected["headers"].items()
        if found["headers"].get(key) != value
    ]


def comparable(game, source, target):
    """The game without values that depend on the format."""
    game = dict(game, headers=dict(game["headers"]), times=list(game["times"]), comments=list(game["comments"]))
    # The time and the comment at the end of the game may be missing.
    game["times"] += [0] * (len(game["moves"]) + 1 - len(game["times"]))
    game["comments"] += [""] * (len(game["moves"]) + 2 - len(game["comments"]))
    if game["ending"] == "move_limit":
        game["ending"] = "impasse"  # Only V3.0 of the CSA standard has an own word for it.
    names = {"shitateName": "blackName", "uwateName": "whiteName", "title": "tournament"}
    game["headers"] = {names.get(key, key): value for key, value in game["headers"].items()}
    if "csa" in (source, target):
        held = ("blackName", "whiteName", "tournament", "place", "startDatetime", "endDatetime")
        game["headers"] = {key: value for key, value in game["headers"].items() if key in held}
    return game


def by_python(path, expected):
    """The differences of a kif, kifu or csa file as read by cshogi and python-shogi."""
    differences, is_kif = [], path.suffix != ".csa"
    text = decoded(path)
    headers = comparable(expected, "csa", "csa")["headers"]
    names = [headers.get(key) for key in ("blackName", "whiteName")]
    if not is_kif or "手合割：" in text:  # cshogi knows no diagrams.
        try:
            game = KIF.Parser.parse_file(str(path)) if is_kif else CSA.Parser.parse_file(str(path))[0]
            found = ([cshogi.move_to_usi(move) for move in game.moves], [name or None for name in game.names])
        except Exception as error:  # With any exception, the file could not be read.
            found = error
        if found != (expected["moves"], names):
            differences.append(f"cshogi: {(expected['moves'], names)} became {found}")
    try:
        found = (shogi.KIF if is_kif else shogi.CSA).Parser.parse_str(text)[0]["moves"]
    except Exception as error:  # With any exception, the file could not be read.
        found = error
    if is_kif and branches(expected["lines"]) and isinstance(found, list):
        found = found[: len(expected["moves"])]  # python-shogi appends the moves of variations.
    if found != expected["moves"]:
        differences.append(f"python-shogi: {expected['moves']} became {found}")
    return differences


def branches(lines):
    return len(lines) > 1 or any(branches(following) for _, _, following in lines)


def convert(kyokumen, source, target):
    """Writes `target`. Returns the error, if any."""
    command = [kyokumen, "convert", source, "-o", target, "--progress", "none"]
    kif = {".kif", ".kifu", ".ki2", ".ki2u"}
    if source.suffix == target.suffix or {source.suffix, target.suffix} <= kif:
        command.append("--canonical")  # Otherwise the text of the game would be copied.
    answer = subprocess.run(command, capture_output=True, text=True)
    return [] if answer.returncode == 0 else [f"exit status {answer.returncode}: {answer.stderr.strip()}"]


def report(name, differences):
    print(f"{'DIFFERS' if differences else 'equal  '} {name}")
    for difference in differences[:5]:
        print(f"    {difference}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
