"""The texts on which the token estimate is fitted and tested, by kind. Nothing of other projects.

Three sources: passages written for this purpose (`passages/`, one file per language), texts that
are made up here from a fixed seed, and the project's own files.
"""

# ruff: noqa: E501 - a made-up line is best read as one line

import base64
import csv
import io
import json
import random
import string
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PASSAGES = Path(__file__).parent / "passages"
DRIVE = "C:"
SIZE = 12_000
"""About how many characters of each kind are used."""
PIECE_CHARS = 1_500
"""The estimate is judged on pieces of this many characters."""

VERBS = [
    "get",
    "set",
    "load",
    "save",
    "open",
    "read",
    "write",
    "parse",
    "build",
    "check",
    "find",
    "list",
    "update",
    "remove",
    "send",
]
NOUNS = [
    "user",
    "session",
    "token",
    "message",
    "request",
    "response",
    "history",
    "window",
    "budget",
    "prompt",
    "config",
    "file",
    "path",
    "index",
    "cache",
    "queue",
    "report",
    "weather",
    "ticket",
    "invoice",
    "address",
    "buffer",
    "schema",
    "result",
    "model",
    "image",
]
PLACES = [
    "Oslo",
    "Bergen",
    "Lisbon",
    "Nairobi",
    "Toronto",
    "Busan",
    "Lima",
    "Graz",
    "Tallinn",
    "Cork",
    "Leeds",
    "Osaka",
]
PEOPLE = ["amina", "joris", "priya", "mateo", "ingrid", "tomasz", "yuki", "farid", "lucia", "oren"]
HAN_WORDS = [
    "查询",
    "天气",
    "连接",
    "超时",
    "用户",
    "登录",
    "成功",
    "文件",
    "读取",
    "失败",
    "重试",
    "数据库",
    "服务器",
    "响应",
    "缓存",
    "更新",
    "完成",
    "任务",
    "开始",
    "参数",
    "错误",
    "权限",
    "不足",
    "模型",
    "调用",
    "工具",
    "返回",
    "结果",
    "会话",
    "摘要",
    "压缩",
    "配置",
    "加载",
    "订单",
    "支付",
    "通知",
    "队列",
    "清理",
    "过期",
    "记录",
    "第三方",
    "接口",
]
FACES = "😀😂🤣😊😍🤔😅👍🙏🎉🔥💯🚀✅❌⚠️❤️👀🤷‍♂️👩‍💻🇳🇴🌧️☕🍜🏔️"


def passages() -> dict[str, str]:
    """Language → the passage that was written for this purpose."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(PASSAGES.glob("*.txt"))}


def made_up() -> dict[str, str]:
    """Kind → a text from a fixed seed: the same on every machine."""
    return {kind: make(random.Random(kind))[:SIZE] for kind, make in MAKERS.items()}  # noqa: S311


def from_project() -> dict[str, str]:
    """Kind → what the project itself is made of, as it is today."""
    notebooks = [json.loads(_read(path)) for path in sorted(ROOT.glob("notebooks/**/*.ipynb"))]
    cells = [cell for notebook in notebooks for cell in notebook["cells"]]
    bodies = sorted(ROOT.glob("fixtures/**/*.json"))
    return {
        "markdown prose": _sample("".join(c["source"]) for c in cells if c["cell_type"] != "code"),
        "notebook code": _sample("".join(c["source"]) for c in cells if c["cell_type"] == "code"),
        "python source": _sample(map(_read, sorted(ROOT.glob("freya_teach/**/*.py")))),
        "python tests": _sample(map(_read, sorted(ROOT.glob("tests/**/*.py")))),
        "recorded json": _sample(map(_read, bodies)),
        "notebook json": _sample(json.dumps(n, ensure_ascii=False) for n in notebooks),
        "prompts": _sample(map(_read, sorted(ROOT.glob("prompts/**/*.md")))),
        "toml and yaml": _read(ROOT / "pyproject.toml")[:4_000]
        + "".join(map(_read, sorted(ROOT.glob(".github/**/*.yml")))),
        "licence": _read(ROOT / "LICENSE-text"),
    }


def all_kinds() -> dict[str, str]:
    """Every kind of text, each at most `SIZE` characters long."""
    kinds = {**passages(), **made_up(), **from_project()}
    return {kind: text[:SIZE] for kind, text in kinds.items()}


def pieces_of(text: str) -> list[str]:
    """The text in pieces of `PIECE_CHARS`; a short rest belongs to the last one."""
    count = max(1, round(len(text) / PIECE_CHARS))
    size = -(-len(text) // count)
    return [text[start : start + size] for start in range(0, len(text), size)]


# ---- made up -------------------------------------------------------------------------------


def _repeat(line: Callable[[random.Random], str]) -> Callable[[random.Random], str]:
    """Lines made by a function until there is enough."""

    def make(rng: random.Random) -> str:
        lines: list[str] = []
        while sum(map(len, lines)) < SIZE:
            lines.append(line(rng))
        return "\n".join(lines)

    return make


def _hex(rng: random.Random, length: int) -> str:
    return f"{rng.getrandbits(4 * length):0{length}x}"


def _uuid(rng: random.Random) -> str:
    return "-".join(_hex(rng, length) for length in (8, 4, 4, 4, 12))


def _time(rng: random.Random) -> str:
    day, hour, minute = rng.randint(1, 28), rng.randint(0, 23), rng.randint(0, 59)
    return f"2026-{rng.randint(1, 12):02}-{day:02}T{hour:02}:{minute:02}:{rng.randint(0, 59):02}Z"


def _words(rng: random.Random, low: int, high: int) -> str:
    return " ".join(rng.choice(NOUNS + VERBS) for _ in range(rng.randint(low, high)))


def _call(rng: random.Random) -> dict[str, Any]:
    arguments = {
        rng.choice(NOUNS): rng.choice(PLACES),
        f"max_{rng.choice(NOUNS)}s": rng.randint(1, 500),
        "query": _words(rng, 2, 8),
        "verbose": rng.random() < 0.5,
        "tags": rng.sample(NOUNS, 2),
    }
    name = f"{rng.choice(VERBS)}_{rng.choice(NOUNS)}"
    return {"id": f"call_{_hex(rng, 12)}", "name": name, "arguments": arguments}


def _tool(rng: random.Random) -> dict[str, Any]:
    fields = {
        name: {"type": rng.choice(["string", "integer", "boolean"]), "description": _about(rng)}
        for name in rng.sample(NOUNS, 3)
    }
    parameters = {"type": "object", "properties": fields, "required": list(fields)[:2]}
    call = f"{rng.choice(VERBS)}_{rng.choice(NOUNS)}"
    return {"name": call, "description": _about(rng), "parameters": parameters}


def _about(rng: random.Random) -> str:
    place = rng.choice(["folder", "list", "city", "project", "conversation"])
    return f"The {rng.choice(NOUNS)} of the {place} that you want to {rng.choice(VERBS)}."


def _escaped(rng: random.Random) -> str:
    han = "".join(rng.choices(HAN_WORDS, k=rng.randint(2, 9)))
    return json.dumps({"text": han, "path": f"{DRIVE}\\Users\\{rng.choice(PEOPLE)}\\{han[:3]}.txt"})


def _numbers(rng: random.Random) -> str:
    return json.dumps([round(rng.uniform(-1000, 1000), rng.randint(0, 6)) for _ in range(12)])


def _url(rng: random.Random) -> str:
    path = "/".join(rng.choice(NOUNS) for _ in range(rng.randint(1, 4)))
    tail = rng.choice(
        [f"?id={rng.randint(1, 10**7)}&page={rng.randint(1, 99)}", f"#{_hex(rng, 7)}"]
    )
    return f"https://{rng.choice(PEOPLE)}.example.{rng.choice(['com', 'org', 'no'])}/{path}{tail}"


def _row(rng: random.Random) -> str:
    price, share = rng.uniform(1, 900), rng.random() * 100
    return f"| {rng.choice(PLACES)} | {rng.choice(NOUNS)} | {price:,.2f} | {share:.1f} % | {_hex(rng, 4)} |"


def _csv(rng: random.Random) -> str:
    out = io.StringIO()
    row = [rng.randint(1, 99_999), rng.choice(PLACES), _time(rng), f"{rng.uniform(0, 99):.3f}"]
    csv.writer(out, lineterminator="").writerow([*row, _words(rng, 1, 4)])
    return out.getvalue()


def _html(rng: random.Random) -> str:
    kind = rng.choice(NOUNS)
    return (
        f'<div class="{kind}-{rng.choice(NOUNS)} col-{rng.randint(1, 12)}" id="{kind}{rng.randint(1, 99)}">\n'
        f'  <a href="{_url(rng)}">{_words(rng, 1, 4).title()}</a>\n  <p>{_about(rng)}</p>\n</div>'
    )


def _log(rng: random.Random) -> str:
    level = rng.choice(["INFO", "WARNING", "ERROR", "DEBUG"])
    return (
        f"{_time(rng)} {level} [{_uuid(rng)}] {rng.choice(VERBS)}_{rng.choice(NOUNS)} "
        f"took {rng.randint(1, 9999)}ms status={rng.choice([200, 404, 500])} ip=10.{rng.randint(0, 255)}.0.{rng.randint(1, 254)}"
    )


def _mixed_log(rng: random.Random) -> str:
    han = "".join(rng.choices(HAN_WORDS, k=rng.randint(2, 5)))
    return f"[{_time(rng)}] {rng.choice(NOUNS)}={rng.randint(1, 9999)} {han}：{rng.choice(VERBS)} {han[:4]}，耗时{rng.randint(1, 999)}毫秒"


def _name(rng: random.Random) -> str:
    words = [rng.choice(VERBS), *rng.sample(NOUNS, rng.randint(2, 4))]
    snake, camel = "_".join(words), words[0] + "".join(map(str.title, words[1:]))
    return rng.choice([snake, camel, snake.upper(), camel[0].upper() + camel[1:]])


def _chat(rng: random.Random) -> str:
    faces = "".join(rng.choices(FACES.split(), k=1)) + "".join(
        rng.choices(FACES, k=rng.randint(1, 4))
    )
    return f"{rng.choice(PEOPLE)}: {_words(rng, 1, 6)} {faces}"


def _sql(rng: random.Random) -> str:
    table, other = rng.sample(NOUNS, 2)
    return (
        f"SELECT {table[0]}.id, {other[0]}.{rng.choice(NOUNS)}, COUNT(*) AS n\nFROM {table}s {table[0]}\n"
        f"LEFT JOIN {other}s {other[0]} ON {other[0]}.{table}_id = {table[0]}.id\n"
        f"WHERE {table[0]}.created_at > '{_time(rng)}' GROUP BY 1, 2 HAVING COUNT(*) > {rng.randint(1, 99)};"
    )


def _shell(rng: random.Random) -> str:
    size = rng.randint(100, 10**7)
    return rng.choice(
        [
            f"-rw-r--r-- 1 {rng.choice(PEOPLE)} staff {size:>9} Dec {rng.randint(1, 28):>2} {_name(rng)}.py",
            f"$ grep -rn '{rng.choice(NOUNS)}' ./src --include=*.ts | head -{rng.randint(1, 50)}",
            f"src/{rng.choice(NOUNS)}/{_name(rng)}.ts:{rng.randint(1, 900)}:  const {_name(rng)} = await {_name(rng)}();",
            f'  File "/home/somebody/{rng.choice(NOUNS)}.py", line {rng.randint(1, 900)}, in {_name(rng)}',
        ]
    )


def _diff(rng: random.Random) -> str:
    return (
        f"@@ -{rng.randint(1, 900)},{rng.randint(1, 9)} +{rng.randint(1, 900)},{rng.randint(1, 9)} @@ def {_name(rng)}:\n"
        f"-    {rng.choice(NOUNS)} = {_name(rng)}({rng.choice(NOUNS)}, {rng.randint(0, 99)})\n"
        f"+    {rng.choice(NOUNS)} = {_name(rng)}({rng.choice(NOUNS)}=None)  # {_words(rng, 2, 5)}"
    )


def _random_text(rng: random.Random) -> str:
    return "".join(rng.choices(string.ascii_letters + string.digits + "  _-.", k=60))


def _repeats(rng: random.Random) -> str:
    sign = rng.choice(["=", "-", "A", " ", "x", "#", "ab", "0", ".", "*"])
    return sign * rng.randint(20, 200)


def _board(rng: random.Random) -> str:
    mark = rng.choice(["✅", "❌", "🟡", "🚧", "⏳", "➡️", "⚙️"])
    return f"{mark} {rng.choice(NOUNS)} → {rng.randint(0, 100)} % · {_words(rng, 2, 4)} {mark * rng.randint(0, 3)}"


def _box(rng: random.Random) -> str:
    width = rng.randint(10, 40)
    return rng.choice(
        [
            f"{'│   ' * rng.randint(0, 3)}├── {_name(rng)}.py",
            f"{'│   ' * rng.randint(0, 3)}└── {rng.choice(NOUNS)}/",
            f"┌{'─' * width}┬{'─' * 9}┐",
            f"│ {rng.choice(PLACES):{width - 1}}│ {rng.randint(0, 9999):7} │",
            f"[{'█' * rng.randint(1, 20)}{'░' * rng.randint(1, 20)}] {rng.randint(1, 99)} %",
        ]
    )


def _base64(rng: random.Random) -> str:
    return base64.b64encode(rng.randbytes(SIZE * 3 // 4)).decode()


def _minified(rng: random.Random) -> str:
    return json.dumps(_call(rng), separators=(",", ":"))


def _pretty(rng: random.Random) -> str:
    return json.dumps(_call(rng), indent=2)


def _definition(rng: random.Random) -> str:
    return json.dumps(_tool(rng), separators=(",", ":"))


MAKERS: dict[str, Callable[[random.Random], str]] = {
    "base64": _base64,
    "base64 lines": _repeat(lambda rng: base64.b64encode(rng.randbytes(57)).decode()),
    "csv": _repeat(_csv),
    "diff": _repeat(_diff),
    "emoji chat": _repeat(_chat),
    "escaped json": _repeat(_escaped),
    "hex": _repeat(lambda rng: _hex(rng, 64)),
    "html": _repeat(_html),
    "identifiers": _repeat(_name),
    "json calls": _repeat(_minified),
    "json calls, pretty": _repeat(_pretty),
    "json numbers": _repeat(_numbers),
    "log": _repeat(_log),
    "log, zh and en": _repeat(_mixed_log),
    "markdown table": _repeat(_row),
    "random characters": _repeat(_random_text),
    "repeats": _repeat(_repeats),
    "shell": _repeat(_shell),
    "status board": _repeat(_board),
    "sql": _repeat(_sql),
    "tool definitions": _repeat(_definition),
    "trees and boxes": _repeat(_box),
    "urls": _repeat(_url),
    "uuids": _repeat(_uuid),
}


# ---- from the project ----------------------------------------------------------------------


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _sample(texts: Iterable[str]) -> str:
    """A part of each text, so that many files together give `SIZE` characters."""
    found: Sequence[str] = [text for text in texts if text.strip()]
    share = max(200, SIZE // max(1, len(found)))
    return "\n".join(text[:share] for text in found)
