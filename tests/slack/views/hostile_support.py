"""What tests of hostile share with other tests."""

from __future__ import annotations

import re

HOSTILE = (
    "<!channel>", "<!here>", "<!everyone>", "<@U123ABC>", "<#C123ABC>", "<!subteam^S123>", "<https://evil.example|ok>",
    "<mailto:a@evil.example|ok>", "<slack://open>", "<!date^1^{date}|x>", "<javascript:alert(1)|ok>", "@channel @here",
    "https://evil.example", "*bold*", "_italic_", "~gone~", "`code`", "```block```", "*_~`all`~_*", "> quote",
    "&lt;!channel&gt;", "&amp;lt;!channel&amp;gt;", "&#60;!channel&#62;", "\u202egnp.exe", "\u2066x\u2069", "\u200b<\u200b!channel>",
    "a\x00b", "\x1b[31mred", "\r\nline\r\n*two*", "\u2028*sep*\u2029", "\ud800", "\U000e0041tag", "\ufeffbom",
    "|", "<", ">", "&", "<<>>", "<|>", "'\"\\", ":fire: :white_check_mark:", "{\"a\": 1}", "%s %d {0}", "$(reboot)",
    "<script>alert(1)</script>", "• bullet\n• bullet", "1. step\n2. step", "\u0430\u0440\u0440le", "x\u0301" * 20,
    "*SKIP* `rm -rf /`", "-->", "\t\t", "ＡＢＣ＜！channel＞", "<!channel" , "channel>", "*", "``", "é漢字हिन्दी",
)  # fmt: skip
OURS = re.compile(
    r"<!date\^\d+\^(?:\{date_short_pretty\} \{time\}\|\d{4}-\d\d-\d\d |\{time\}\|)\d\d:\d\d UTC>|<https://[^<>|]*\|[^<>]*>"
)
INVISIBLE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
