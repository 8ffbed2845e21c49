"""The table of what masking looks for: vendors' tokens, values after a secret's name, personal data.

A rule is tried only on a text that contains one of its `needs`, so that a text without secrets costs next to
nothing. Every repetition is bounded, and no pattern starts with a look-behind where a character can be tested
first: linear, and fast.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Replacer = Callable[[re.Match[str]], str]


@dataclass(frozen=True, slots=True)
class SecretRule:
    """The form of one kind of secret."""

    name: str
    needs: tuple[str, ...]  # one of these must be in the lower-case text; empty means always
    pattern: re.Pattern[str]
    by: str | Replacer = ""  # replaces the match
    beside: str = ""  # must be in the text, too


# What may precede a name within the same word, and what the name is for.
_NAMES = (
    r"(?:(?:pg|db|user|root|admin|auth|access|client|refresh)?(?:pass(?:word|wd|[ _-]?phrase|[ _-]?code)|secret|token)|pwd|(?:bind|root|user|db|admin)[_-]?pw|psk|requirepass|masterauth|api[ _-]?key|access[ _-]?key|account[ _-]?key"
    r"|private[ _-]?key|signing[ _-]?(?:key|secret)|client[ _-]?secret|client[_-]key[_-]data|auth[_-]?key|encryption[ _-]?key|credentials?|session[_-]?(?:id|key)|j?sess(?:ion)?id|phpsessid"
    r"|connect\.sid|connection[_ -]?string|mot[_ ]de[_ ]passe|passwort|kennwort|contraseña|senha|clave|密码|パスワード)"
)
# A name begins after anything but a letter, or at a camelCase word ("jwtSecret"); "secret:" in an ARN is not a name.
_BEGIN = r"(?:(?<![A-Za-z])|(?-i:(?<=[a-z])(?=[A-Z])))(?<!\d{12}:)"
# What a name goes on with: "_OLD" is still the secret, "_id" is not.
_NOT_IT = r"(?![_-](?:ids?|names?|envs?|vars?|counts?|types?|files?|paths?|refs?|ur[il]s?|ttl|sizes?|len|length|limits?|used|age|version|status|arn|policy|per|expir\w{0,5})\b)"
_MORE = rf"{_NOT_IT}(?:[_-][A-Za-z0-9]{{1,20}}){{0,2}}"
_NAME = rf"(?:passw(?:or)?d|{_BEGIN}{_NAMES}){_MORE}"
NAMED = rf"(?<![A-Za-z])(?:[A-Za-z0-9]{{1,30}}[_.-]){{0,4}}{_NAMES}{_MORE}"
_IS = r"(?:[:=：]|%3[AaDd])"
# brackets may occur inside, but a placeholder ("${DB_PASSWORD}", "{{ db }}") is not a value
_WORD = r"[^\s\"'`,;&<>|{}()\[\]](?!(?<=[$%])[{(])[^\s\"'`,;&<>|]{2,499}(?<![)\]}])"
_MIXED = r"[^\s\"'`,;<>|{}()\[\]]"
# A value in quotes goes to the same kind of quote.
_QUOTED = "|".join(rf"(?<={q})(?:[^{q}\n\\]|\\(?!{q})){{3,500}}" for q in "\"'`")
PARAMS = r"pass|token|key|apikey|api_key|api-key|secret|password|passwd|pwd|sig|signature|auth|access_token|code|session|jwt|credential|x-amz-[a-z-]{1,30}"
LABEL = re.compile(rf"[\s*_`\"'•>-]{{0,6}}(?:\w{{1,30}}[ ]){{0,2}}{NAMED}[\s*_`\"':：=]{{0,6}}$", re.IGNORECASE)
ENDS = re.compile(rf"{NAMED}[*_`\"']{{0,3}}\s{{0,3}}[:=][\s*_`\"']{{0,6}}$", re.IGNORECASE)
SECRET_PARAM = re.compile(
    rf"((?:^|[?&;#])(?:[\w.-]{{0,30}}[_.-])?(?:{PARAMS})=)(?!\[masked)([^&#;\s]{{1,2000}})", re.IGNORECASE
)
# every name of a secret holds one of these; in a text without them the rules that go by names need not be tried
_HINTS = ("pass", "secret", "token", "pwd", "key", "cred", "sess", "connect", "kennwort", "contrase", "senha", "clave", "密码", "パスワード", "pw", "psk", "requirepass", "masterauth")  # fmt: skip
_NO_VALUES = re.compile(
    r"^(?:null|none|true|false|missing|expired|invalid|required|rotation|rotated|refresh|error|undefined|empty|unknown|https?:.*|ok|yes|no|(?-i:\$[A-Z_]{1,60})|(?-i:(?:/[a-z][a-z0-9._-]{0,60}){2,12})|\d{1,5}(?::\d{1,5})?|\*+|x{3,}|<.*|\[.*)$",
    re.IGNORECASE,
)


def _define_token(name: str, needs: str, *patterns: str) -> SecretRule:
    """Define a vendor's token, known by its own form."""
    return SecretRule(name, tuple(needs.split()), re.compile("|".join(patterns)), f"[masked:{name}]")


_TOKENS = (
    _define_token("slack_token", "xox xapp-", r"xox(?<!\wxox)(?:e\.xox[bp]|[a-zA-Z])-[A-Za-z0-9-]{8,250}", r"xapp-(?<!\wxapp-)\d-[A-Za-z0-9-]{8,250}"),
    _define_token("slack_webhook", "hooks.slack.com/", *(rf"(?<=hooks\.slack\.com/{kind}/)[A-Za-z0-9/]{{10,120}}" for kind in ("services", "triggers", "workflows"))),
    # other addresses that let anybody who knows them post
    _define_token(
        "webhook",
        "/webhooks/ webhook.office.com/ hooks.zapier.com/ hooks.airtable.com/ hc-ping.com/ /integration/ cronitor.link/",
        r"(?<=/api/webhooks/)\d{10,25}/[\w-]{30,120}", r"(?<=\.webhook\.office\.com/webhookb2/)[\w@/-]{30,400}", r"(?<=hooks\.zapier\.com/hooks/catch/)[\w/]{8,60}",
        r"(?<=hooks\.airtable\.com/workflows/v1/)[\w/]{20,120}", r"(?<=hc-ping\.com/)[\w-]{20,60}", r"(?<=events\.pagerduty\.com/integration/)[a-f0-9]{20,40}", r"(?<=cronitor\.link/p/)[a-f0-9]{20,40}",
    ),
    _define_token("github_token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"gh[pousr]_(?<!\w....)[A-Za-z0-9]{16,255}", r"github_pat_[A-Za-z0-9_]{16,255}"),
    _define_token("gitlab_token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas- glimt- glffct- gr1348941", r"GR1348941[A-Za-z0-9_-]{16,60}", r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt|ffct)-[A-Za-z0-9_-]{16,255}"),
    _define_token("groq_key", "gsk_", r"gsk_(?<!\wgsk_)[A-Za-z0-9]{16,255}"),
    _define_token("hindsight_key", "hsk_", r"hsk_(?<!\whsk_)[A-Za-z0-9_-]{8,255}"),
    _define_token("stripe_key", "_live_ _test_ whsec_", r"[srp]k_(?<!\w...)(?:live|test)_[A-Za-z0-9]{8,255}", r"whsec_[A-Za-z0-9+/=]{16,255}"),
    _define_token("razorpay_key", "rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{8,64}"),
    _define_token("model_key", "sk- hf_ r8_ nvapi-", r"sk-(?<!\wsk-)(?:ant-|proj-|svcacct-|or-)?(?=[A-Za-z0-9_-]{0,60}?[A-Z0-9])[A-Za-z0-9_-]{20,255}", r"(?:hf|r8)_(?<!\w...)[A-Za-z0-9]{30,40}\b", r"nvapi-[A-Za-z0-9_-]{40,100}"),
    _define_token("aws_key", "akia asia aroa aida", r"A(?<!\wA)(?:KIA|SIA|ROA|IDA)[A-Z0-9]{16}\b"),
    _define_token("google_key", "aiza ya29. gocspx- 1//0", r"AIza[A-Za-z0-9_-]{35}", r"ya29\.[A-Za-z0-9_-]{16,1000}", r"GOCSPX-[A-Za-z0-9_-]{16,64}", r"1//0(?<![\w/]1//0)[A-Za-z0-9_-]{30,200}"),
    _define_token("azure_key", "q~", r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,40}"),
    _define_token("sendgrid_key", "sg.", r"SG\.(?<!\wSG.)[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    _define_token("mailgun_key", "key-", r"key-(?<!\wkey-)[a-f0-9]{32}\b"),
    _define_token("twilio_key", "sk", r"SK(?<!\wSK)[a-f0-9]{32}\b"),
    _define_token("telegram_token", ":aa", r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,33}"),
    _define_token("discord_token", ".", r"[MNO](?<!\w.)[A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}"),
    _define_token("npm_token", "npm_ pypi- dop_v1_ hvs. dckr_pat_ rubygems_", r"npm_[A-Za-z0-9]{30,64}", r"pypi-[A-Za-z0-9_-]{32,255}", r"dop_v1_[a-f0-9]{32,64}", r"hvs\.[A-Za-z0-9_-]{20,255}", r"dckr_pat_[A-Za-z0-9_-]{20,64}", r"rubygems_[a-f0-9]{40,64}"),
    _define_token("vault_token", "s. hvb.", r"s\.(?<![\w./-]s.)(?=[A-Za-z]{0,23}\d)(?=[a-z0-9]{0,23}[A-Z])[A-Za-z0-9]{24}\b(?!\.)", r"hvb\.[A-Za-z0-9_-]{20,300}"),
    _define_token(
        "service_token",
        "shpat_ shpca_ shppa_ shpss_ dapi nrak- nrii- glsa_ glc_ lin_api_ ntn_ atatt3x atctt3x atbb sbp_ .atlasv1. figd_ pscale_ eaaa sq0 age-secret-key-1 pmak- dp.pt. sntrys_ sntryu_ xkeysib- tskey- hrku- ltai eyjrijoi cfsk_ pul- fm2_ fo1_ nfp_ rnd_ dt0c01. phx_ phs_ pat-na1- pat-eu1- lin_oauth_ dckr_oat_ cfpat- sb_secret_ xai- pplx- tgp_v1_ bbdc- shippo_live_ ezak ops_eyj pnu_ v1.0- sl.u. sl.b vercel_blob_rw_ doo_v1_ dor_v1_ secret_ eaac tfp_ rdme_ waka_",
        r"shp(?:at|ca|pa|ss)_[a-f0-9]{32}", r"dapi(?<!\wdapi)[a-f0-9]{32}(?:-\d)?", r"NR(?:AK|II)-[A-Z0-9]{20,32}", r"glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}", r"glc_[A-Za-z0-9+/=_-]{32,400}", r"lin_api_[A-Za-z0-9]{32,64}",
        r"ntn_[A-Za-z0-9]{40,60}", r"AT(?:ATT|CTT)3x[A-Za-z0-9_=-]{32,400}", r"ATBB[A-Za-z0-9_=-]{24,64}", r"sbp_[a-f0-9]{40}", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,100}", r"figd_[A-Za-z0-9_-]{32,64}",
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}", r"EAAA(?<!\w....)[A-Za-z0-9_-]{40,200}", r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,64}", r"AGE-SECRET-KEY-1[A-Z0-9]{50,64}", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
        r"dp\.pt\.[A-Za-z0-9]{40,44}", r"sntry[su]_[A-Za-z0-9+/=_-]{32,400}", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}", r"tskey-[a-z]{2,8}-[A-Za-z0-9-]{16,80}", r"HRKU-[A-Za-z0-9_-]{36,60}", r"LTAI(?<!\w....)[A-Za-z0-9]{17,21}\b", r"eyJrIjoi[A-Za-z0-9+/=_-]{40,400}", r"cfsk_[A-Za-z0-9_]{24,100}",
        r"pul-(?<!\wpul-)[a-f0-9]{40}\b", r"fm2_[A-Za-z0-9+/=_-]{40,1000}", r"fo1_[A-Za-z0-9_-]{40,60}", r"nfp_(?<!\wnfp_)[A-Za-z0-9]{36,44}\b", r"rnd_(?<!\wrnd_)(?=[a-zA-Z0-9]{0,30}[A-Z])[A-Za-z0-9]{28,36}\b", r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}", r"ph[xs]_(?<!\w....)[A-Za-z0-9]{40,60}\b",
        r"pat-(?:na|eu)1-[a-f0-9]{8}-[a-f0-9-]{20,40}", r"lin_oauth_[A-Za-z0-9]{32,80}", r"dckr_oat_[A-Za-z0-9_-]{20,64}", r"CFPAT-[A-Za-z0-9_-]{40,60}", r"sb_secret_[A-Za-z0-9_-]{20,60}", r"xai-(?<!\wxai-)[A-Za-z0-9]{60,100}\b", r"pplx-(?<!\wpplx-)[A-Za-z0-9]{40,64}\b", r"tgp_v1_[A-Za-z0-9_-]{40,60}",
        r"BBDC-[A-Za-z0-9+/=]{40,60}", r"shippo_live_[a-f0-9]{40}", r"EZAK[a-f0-9]{10,40}[A-Za-z0-9]{10,40}\b", r"ops_eyJ[A-Za-z0-9_=-]{80,2000}", r"pnu_(?<!\wpnu_)[A-Za-z0-9]{36}\b", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,160}", r"sl\.(?:u\.|B)[A-Za-z0-9_-]{60,1500}",
        r"vercel_blob_rw_[A-Za-z0-9_]{30,80}", r"do[or]_v1_[a-f0-9]{32,64}", r"secret_(?<!\wsecret_)(?=[a-z0-9]{0,42}[A-Z])[A-Za-z0-9]{43}\b", r"EAAC(?<!\w....)[A-Za-z0-9]{80,300}", r"tfp_[A-Za-z0-9_=.-]{40,70}", r"rdme_[a-z0-9]{60,80}", r"waka_[a-f0-9]{8}-[a-f0-9-]{27}",
    ),
    _define_token("service_token", "pat", r"pat(?<!\wpat)[A-Za-z0-9]{14}\.[a-f0-9]{64}\b"),
    _define_token("jwt", "eyj", r"eyJ(?<!\weyJ)[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}(?:\.[A-Za-z0-9_-]{0,1000})?"),
)  # fmt: skip


def _mask_secret(match: re.Match[str]) -> str:
    """Mask the value after a secret's name; words about the secret ("the token: Grafana's …") stay."""
    is_possessive = match.string.startswith(("'s ", "’s "), match.end())
    return match[0] if is_possessive or is_no_value(match[2]) else f"{match[1]}[masked:secret]"


def is_no_value(value: str) -> bool:
    """Return whether the text after a secret's name only describes it ("expired", "****", a port)."""
    return _NO_VALUES.match(value) is not None


def _define_named(
    needs: tuple[str, ...], pattern: str, flags: re.RegexFlag = re.IGNORECASE, beside: str = ""
) -> SecretRule:
    """Define a value known by what precedes it (group 1); the value is group 2."""
    return SecretRule("secret", needs, re.compile(pattern, flags), _mask_secret, beside)


_BY_NAME = (
    SecretRule(
        "authorization",
        ("authorization", "bearer", "ssws"),
        re.compile(r"((?:authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token|digest|apikey|ssws)?|\bbearer|\bssws)\s{1,3}|authorization[\"']\s{0,3}:\s{0,3}[\"'](?:(?:bearer|basic|token|digest|apikey|ssws)\s{1,3})?)(?!\[masked)([A-Za-z0-9._~+/=-]{8,2000})", re.IGNORECASE),
        r"\1[masked:authorization]",
    ),
    SecretRule("authorization", ("basic ",), re.compile(r"(\bBasic[ ]{1,3})(?=[a-z0-9+/]{0,200}[A-Z])(?=[A-Za-z+/]{0,200}[0-9=])([A-Za-z0-9+/]{12,2000}={0,2})"), r"\1[masked:authorization]"),
    SecretRule("password_hash", ("$", "{sha", "{ssha"), re.compile(r"\$apr1\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22}|\$(?:y|7|gy|scrypt)\$[./A-Za-z0-9$=,]{20,200}|\bpbkdf2_sha\d{1,3}\$\d{1,8}\$[^\s\"']{20,200}|\{S?SHA\d{0,3}\}[A-Za-z0-9+/=]{28,200}|\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|\$[156]\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}|\$argon2(?:id|i|d)\$[^\s\"']{20,200}"), "[masked:password_hash]"),
    _define_named(("convertto-securestring",), rf"(convertto-securestring[ ](?:-string[ ])?[\"'])(?!\[masked)({_WORD})"),
    _define_named(("signature=",), r"(\bsignature=)([a-f0-9]{40,128}\b)"),
    _define_named(_HINTS, rf"({_NAME}[\"'`*_\\]{{0,9}}\s{{0,3}}{_IS}[*_]{{0,2}}(?:[ ]?[|>][+-]?\s{{1,20}}|\s{{0,3}})[\"'`\\]{{0,9}})(?!\[masked|\\)({_QUOTED}|{_WORD})"),
    # a name and its value as two fields of one thing, or as an element
    _define_named(_HINTS, rf"((?:{_NAME}|(?<=[_.-])pass)[\"'\\]{{0,4}}[\s,/]{{0,20}}[\"'\\]{{0,4}}value[\"'\\]{{0,4}}\s{{0,3}}[:=]\s{{0,3}}[\"'\\]{{0,4}})(?!\[masked)({_WORD})", beside="value"),
    _define_named(_HINTS, rf"(<(?:[\w.-]{{0,30}}[:_.-])?{_NAMES}>\s{{0,20}})(?!\[masked)([^<>\n]{{3,500}})(?=</)", beside="</"),
    _define_named(("pass",), rf"((?<![A-Za-z])pass[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?)(?!\[masked)(?=[^\s\"']{{0,200}}?\d)(?=[^\s\"']{{0,200}}?[A-Za-z])({_WORD})"),
    _define_named(("key",), rf"((?<![A-Za-z])(?:subscription|master|app|license|storage|ssh|host|deploy|service|integration|ingest|write|admin|root|function|webhook|shared|device|routing|hmac|unseal|recovery)[ _-]?key(?:[ ]\d)?[\"']?\s{{0,3}}{_IS}\s{{0,3}}[\"']?)(?!\[masked)(?=[^\s\"']{{0,200}}?\d)((?:base64:)?[A-Za-z0-9+/=_-]{{20,500}})"),
    SecretRule(
        "secret",
        ("otp", "one-time", "verification", "cvv", "cvc"),
        re.compile(r"((?<![A-Za-z])(?:otp|one-time[ ](?:code|password|pin)|verification[ ]code|cvv|cvc)[\"']?(?:[ ]is[ ]|\s{0,3}[:=]\s{0,3}|[ ])[\"']?)\d{3,8}(?!\w|[.:]\d)", re.IGNORECASE),
        r"\1[masked:secret]",
    ),
    # the name as a heading of its own, the value on the next line
    _define_named(_HINTS, rf"(^(?:[^\S\n]|[>•*_`-]){{0,6}}(?:\w{{1,30}}[ ]){{0,2}}{NAMED}[*_`]{{0,3}}[ ]?\n[\s>•*_`\"']{{0,6}})(?!\[masked)({_WORD})", re.IGNORECASE | re.MULTILINE),
    # arguments of commands: --password X, -u user:X, mysql -pX, docker login -p X
    _define_named(_HINTS, rf"(-(?<![\w-]-)-?(?:[a-z0-9]{{1,30}}[_-]){{0,4}}{_NAMES}[ ]{{1,2}}[\"']?)(?!\[masked|-)({_WORD})"),
    _define_named(("-u", "u ", "u=", "-user"), rf"(-(?<![\w-]-)(?:[a-zA-Z]{{0,5}}u|-user|-proxy-user)[ =]{{0,2}}[\"']?[\w.@+-]{{1,100}}:)(?!\[masked)({_WORD})", re.RegexFlag(0)),
    _define_named(("mysql", "maria", "mongo", "sshpass", "redis-cli"), rf"((?<![\w-])(?:(?:mysql|maria|mongo)\w{{0,12}}(?:[ ]{{1,3}}[^\s|;]{{1,100}}){{0,12}}?[ ]{{1,3}}-p|sshpass[ ]{{1,3}}-p[ ]{{0,2}}|redis-cli(?:[ ]{{1,3}}[^\s|;]{{1,100}}){{0,12}}?[ ]{{1,3}}-a[ ]{{1,2}})[\"']?)(?!\[masked)({_WORD})", re.RegexFlag(0)),
    _define_named(("login",), rf"(\blogin(?:[ ]{{1,3}}[^\s|;]{{1,100}}){{0,12}}?[ ]{{1,3}}-p[ ]{{1,2}}[\"']?)(?!\[masked|-)({_WORD})", re.RegexFlag(0)),
    _define_named(("identified",), r"(\bidentified[ ](?:with[ ]\w{1,40}[ ])?by[ ]{1,2}[\"'])(?!\[masked)([^\"'\n]{3,500})"),
    # statements that set a password in a database
    _define_named(("password",), r"(\b(?:with|set|encrypted|using|to)[ ]{1,2}password[ ]{1,2}(?:for[ ][^\s=]{1,100}[ ]{0,2}(?:=|to)[ ]{0,2})?(?:to[ ]{1,2})?[\"'])(?!\[masked)([^\"'\n]{3,500})"),
    # a database's address without a scheme: app:password@tcp(10.0.0.3:3306)/shop
    _define_named(("@",), r"((?<![\w/.-])[\w.-]{1,60}:)(?!\[masked)([^\s/:@\"'`,;<>|(){}]{3,200})(?=@(?:tcp|udp|unix)\d?\()"),
    _define_named(("@",), r"((?<![\w/.-])[\w.-]{1,60}:)(?!\[masked)(?=[^\s@]{0,200}?\d)(?=[^\s@]{0,200}?[A-Za-z])(?!v?\d{1,5}(?:\.\d{1,5}){1,3}@)([^\s/:@\"'`,;<>|(){}]{6,200})(?=@(?:(?!sha\d)[\w.-]{1,200}:\d{2,5}(?:/|\s|$)))"),
    # what tools of many kinds take: netrc, a Dockerfile, Oracle's address, basic authentication, SNMP
    _define_named(("login",), rf"(\blogin\s{{1,3}}[^\s]{{1,100}}\s{{1,3}}password\s{{1,3}})(?!\[masked)(?=[^\s]{{0,200}}?\d)({_WORD})"),
    _define_named(("env ", "arg ", "setx "), rf"(\b(?-i:ENV|ARG|setx)[ ]{{1,2}}{NAMED}[ ]{{1,2}}[\"']?)(?!\[masked)(?=[^\s]{{0,200}}?\d)({_WORD})", re.IGNORECASE),
    _define_named((":thin:",), r"(:thin:[^\s/@]{1,60}/)(?!\[masked)([^\s@]{3,200})(?=@)"),
    _define_named(("basic",), rf"(\bbasic[_-]?auth[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?[\w.@-]{{1,60}}:)(?!\[masked)({_WORD})"),
    _define_named(("community",), r"(\b(?:snmp|ro|rw)[ _-]?community(?:[ ]string)?[\"' :=]{1,4})(?!\[masked)(?=[\w!@#$%^&*-]{0,60}\d)([\w!@#$%^&*-]{4,60})"),
    _define_named(("token ",), r"(\btoken[ ]{1,2})([a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12})\b"),
    _define_named(("recovery code", "backup code"), r"(\b(?:recovery|backup)[ ]codes?[\"']?(?:[ ]is[ ]|\s{0,3}[:=]\s{0,3}|[ ])[\"']?)(?!\[masked)(?=[a-z0-9-]{0,60}\d)([a-z0-9]{4,10}(?:-[a-z0-9]{4,10}){0,6})(?!\w)"),
    # prose about a changed secret
    _define_named(("changed to", "set to", "rotated to", "updated to", "switched to", "back to"), rf"({_NAME}(?:[ ][\w@.-]{{1,40}}){{0,4}}[ ](?:changed|set|reset|rotated|updated|switched|back)[ ]to:?[ ]{{1,3}}[\"'`]?)(?!\[masked)(?=[^\s]{{0,200}}?\d)(?=[^\s]{{0,200}}?[A-Za-z])(?![a-f0-9]{{40}}\b)(?={_MIXED}{{6}})({_WORD})"),
    # a container registry's credentials: base64 of user and password
    _define_named(("auth",), r"(\"auth\"\s{0,3}:\s{0,3}\")(?!\[masked)([A-Za-z0-9+/]{12,2000}={0,2})(?=\")"),
    # prose: only a value with letters and digits
    _define_named(_HINTS, rf"((?<![A-Za-z]){_NAMES}(?:[ ](?:is|was|ist|lautet|est|es)[ ]{{1,2}}[\"'`]?(?={_MIXED}{{6}})|[ ]{{1,2}}[\"'`]?(?=[A-Za-z0-9]{{10,200}}(?![\w.:/=-]))))(?!\[masked)(?=[^\s]{{0,200}}?\d)(?=[^\s]{{0,200}}?[A-Za-z])(?![a-f0-9]{{40}}\b)({_WORD})"),
    _define_named(("=",), rf"([?&](?:amp;)?(?:[\w.-]{{0,30}}[_.-])?(?:{PARAMS})=)(?!\[masked)([^&#;\s\"'<>|)]{{3,2000}})"),
)  # fmt: skip
_COOKIE = re.compile(
    r"([\w.-]{1,60}=)(?!\[masked)(?<!path=)(?<!domain=)(?<!expires=)(?<!max-age=)(?<!samesite=)([^;,\s\"']{8,4000})",
    re.IGNORECASE,
)


def _mask_cookies(match: re.Match[str]) -> str:
    """Mask each value of a header's cookies; their attributes stay."""
    return match[1] + _COOKIE.sub(r"\1[masked:cookie]", match[2])


_ISSUED = re.compile(r"(?:4\d{12}|4\d{15}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}|6\d{15,18})$")


def _mask_card(match: re.Match[str]) -> str:
    """Mask a card number: an issued prefix with its length, a valid checksum, at most one kind of separator."""
    digits = re.sub(r"\D", "", match[0])
    grouped = len({c for c in match[0] if not c.isdigit()}) <= 1
    looks = _ISSUED.match(digits) is not None and len(set(digits)) > 1
    return "[masked:card]" if looks and grouped and _is_luhn_valid(digits) else match[0]


def _is_luhn_valid(digits: str) -> bool:
    """Return whether the digits pass the checksum of payment cards."""
    total = 0
    for i, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if i % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


# Lengths of the account numbers of countries that have them.
_IBAN_LENGTHS = {
    "AE": 23, "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "EE": 20, "ES": 24, "FI": 18,
    "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27, "LI": 21, "LT": 20, "LU": 20,
    "LV": 21, "MC": 27, "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24, "SA": 24, "SE": 24, "SI": 19, "SK": 24,
    "TR": 26,
}  # fmt: skip


def _mask_iban(match: re.Match[str]) -> str:
    """Mask an account number with its country's length and a valid checksum."""
    bare = match[0].replace(" ", "")
    if _IBAN_LENGTHS.get(bare[:2]) != len(bare):
        return match[0]
    number = "".join(str(int(c, 36)) for c in bare[4:] + bare[:4])
    return "[masked:iban]" if int(number) % 97 == 1 else match[0]


def _mask_phone(match: re.Match[str]) -> str:
    """Mask a phone number with a country code and a plausible number of digits."""
    return "[masked:phone]" if 8 <= sum(c.isdigit() for c in match[0]) <= 15 else match[0]


_NO_UNIT = r"(?![\w:/-]|\.\d|,\d|[ ]?(?:ms|us|µs|ns|s|m|h|rps|qps|req|requests?|bytes|rows|events|items|[KMGTkmgt]i?B|%)(?!\w))"
_PEOPLE = (
    SecretRule("cookie", ("cookie",), re.compile(r"((?:set-)?cookie[\"']?\s{0,3}:\s{0,3}[\"']?)([^\n\"']{8,4000})", re.IGNORECASE), _mask_cookies),
    SecretRule(
        "email",
        ("@", "%40"),
        re.compile(r"[A-Za-z0-9](?<![\w.+@-].)(?<!//.)(?<!ssh .)(?!(?<=g)it@)[\w.+-]{0,63}(?:@|%40)(?!v?\d{1,5}\.\d)(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}(?![\w-])"),
        "[masked:email]",
    ),
    SecretRule("card", (), re.compile(r"\d(?<![\w./+-].)(?<!\d:.)(?:[ -]?\d){12,18}(?![\w.:/-]|-\d)"), _mask_card),
    SecretRule("iban", (), re.compile(r"[A-Z](?<!\w.)[A-Z]\d\d(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?(?!\w)"), _mask_iban),
    SecretRule("phone", ("+",), re.compile(r"\+(?<![\w./+-].)(?:\d{1,3}(?:[ .-]\(?\d{2,12}\)?|\(\d{2,5}\)){1,5}|[1-9]\d{10,13})" + _NO_UNIT), _mask_phone),
    SecretRule("phone", ("(",), re.compile(r"\((?<![\w.:/+=-].)\d{3}\) \d{3}-\d{4}(?!\d)"), "[masked:phone]"),
    # as North America writes them: no area or exchange begins with 0 or 1
    SecretRule("phone", ("-", "."), re.compile(r"[2-9](?<![\w.:/+=-].)\d{2}([.-])(?!00)[2-9]\d{2}\1\d{4}" + _NO_UNIT), "[masked:phone]"),
    SecretRule("phone", ("dial ", "ring ", "call ", "text ", "reach "), re.compile(r"(\b(?:(?:dial|ring)(?:[ ]\w{1,12})?|(?:call|text|reach)[ ](?:\w{1,12}[ ])?(?:at|on))[ ])(\+?\d(?:[ ().-]{0,2}\d){8,14}(?![\w.:/-]))", re.IGNORECASE), r"\1[masked:phone]"),
    SecretRule(
        "phone",
        ("phone", "mobile", "msisdn", "tel", "whatsapp"),
        re.compile(r"((?<![A-Za-z])(?:phone|mobile|msisdn|tel(?:ephone)?|whatsapp)(?:[ _-]?(?:no|num|number))?[\"'*_]{0,3}\s{0,3}[:=][\"'*_]{0,3}\s{0,3}[\"']?)(\+?\d(?:[ ().-]{0,2}\d){7,14}(?![\w.:/-]))", re.IGNORECASE),
        r"\1[masked:phone]",
    ),
)  # fmt: skip
IN_LINKS = (
    SecretRule("pem", ("-----begin ",), re.compile(r"-----BEGIN ([A-Z0-9 ]{0,40})-----(?:[^-]|-(?!----)){1,8000}(?:-----END [A-Z0-9 ]{0,40}-----|$)"), "[masked:pem]"),
    *_TOKENS,
)  # fmt: skip
RULES: tuple[SecretRule, ...] = (
    IN_LINKS[0],
    SecretRule("url_password", ("://",), re.compile(r"(://)[^\s/@:?#\[\]]{0,200}:[^\s/?#\[\]@]{1,200}(?:@[^\s/@?#\[\]]{1,200})?(?=@)"), r"\1[masked:url_password]"),
    SecretRule("dsn", ("://",), re.compile(r"(://)(?:[A-Fa-f0-9]{16,64}(?=@)|[A-Za-z0-9_~.+-]{20,255}(?=@))"), r"\1[masked:dsn]"),
    *_TOKENS,
    *_BY_NAME,
    *_PEOPLE,
)  # fmt: skip
