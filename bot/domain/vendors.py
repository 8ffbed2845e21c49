"""Third parties that a product depends on, as a maintained table, and how to find one in a text or an address.

Must not name the monitoring product that posts an alert as the vendor that fails: monitoring tools are not in the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Vendor:
    """One third party. `aliases` are recognised in running text; `words` only where a label says "vendor"
    (they are common words); `hosts` are host suffixes."""

    name: str
    category: str
    aliases: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def _v(name: str, category: str, aliases: str = "", hosts: str = "", words: str = "") -> Vendor:
    """One row of the table; lists are written with `;` (names) and spaces (hosts)."""
    split = tuple(a.strip() for a in aliases.split(";") if a.strip())
    return Vendor(name, category, split, tuple(hosts.split()), tuple(w.strip() for w in words.split(";") if w.strip()))


VENDORS: tuple[Vendor, ...] = (
    _v("razorpay", "payments", "razorpay", "razorpay.com"),
    _v("stripe", "payments", "stripe", "stripe.com stripe.network stripestatus.com"),
    _v("payu", "payments", "payu", "payu.in payu.com payumoney.com"),
    _v("cashfree", "payments", "cashfree", "cashfree.com"),
    _v("adyen", "payments", "adyen", "adyen.com"),
    _v("paypal", "payments", "paypal", "paypal.com paypal-status.com"),
    _v("braintree", "payments", "braintree", "braintreegateway.com braintreepayments.com"),
    _v("checkout.com", "payments", "checkout.com", "checkout.com"),
    _v("mollie", "payments", "mollie", "mollie.com"),
    _v("klarna", "payments", "klarna", "klarna.com"),
    _v("worldpay", "payments", "worldpay", "worldpay.com"),
    _v("paytm", "payments", "paytm", "paytm.in paytm.com"),
    _v("phonepe", "payments", "phonepe", "phonepe.com"),
    _v("billdesk", "payments", "billdesk", "billdesk.com"),
    _v("ccavenue", "payments", "ccavenue", "ccavenue.com"),
    _v("juspay", "payments", "juspay", "juspay.in"),
    _v("mercado pago", "payments", "mercado pago; mercadopago", "mercadopago.com"),
    _v("paystack", "payments", "paystack", "paystack.com paystack.co"),
    _v("flutterwave", "payments", "flutterwave", "flutterwave.com"),
    _v("gocardless", "payments", "gocardless", "gocardless.com"),
    _v("square", "payments", "squareup", "squareup.com issquareup.com", "square"),
    _v("wise", "payments", "transferwise", "wise.com transferwise.com", "wise"),
    _v("plaid", "payments", "", "plaid.com", "plaid"),
    _v("mastercard", "payments", "mastercard", "mastercard.com"),
    _v("visa", "payments", "", "visa.com", "visa"),
    _v("npci", "payments", "npci", "npci.org.in"),
    _v("authorize.net", "payments", "authorize.net; authorizenet", "authorize.net"),
    _v("alipay", "payments", "alipay; 支付宝", "alipay.com"),
    _v("wechat pay", "payments", "wechat pay; 微信支付", "pay.weixin.qq.com"),
    _v("twilio", "messaging", "twilio", "twilio.com"),
    _v("sendgrid", "messaging", "sendgrid", "sendgrid.com sendgrid.net"),
    _v("mailgun", "messaging", "mailgun", "mailgun.org mailgun.net mailgun.com"),
    _v("postmark", "messaging", "postmark", "postmarkapp.com"),
    _v("msg91", "messaging", "msg91", "msg91.com"),
    _v("gupshup", "messaging", "gupshup", "gupshup.io"),
    _v("exotel", "messaging", "exotel", "exotel.com exotel.in"),
    _v("kaleyra", "messaging", "kaleyra", "kaleyra.com kaleyra.io"),
    _v("karix", "messaging", "karix", "karix.com karix.mobi"),
    _v("vonage", "messaging", "vonage; nexmo", "vonage.com nexmo.com"),
    _v("messagebird", "messaging", "messagebird", "messagebird.com"),
    _v("plivo", "messaging", "plivo", "plivo.com"),
    _v("sinch", "messaging", "sinch", "sinch.com"),
    _v("infobip", "messaging", "infobip", "infobip.com"),
    _v("mailchimp", "messaging", "mailchimp; mandrill", "mailchimp.com mandrillapp.com"),
    _v("onesignal", "messaging", "onesignal", "onesignal.com"),
    _v("firebase", "messaging", "firebase; fcm", "firebase.google.com fcm.googleapis.com firebaseio.com"),
    _v("apns", "messaging", "apns", "push.apple.com"),
    _v("whatsapp", "messaging", "whatsapp", "whatsapp.com whatsapp.net"),
    _v("aws", "cloud", "aws; amazon web services", "amazonaws.com aws.amazon.com"),
    _v("gcp", "cloud", "gcp; google cloud", "googleapis.com cloud.google.com"),
    _v("azure", "cloud", "azure", "azure.com windows.net azurewebsites.net azure.microsoft.com"),
    _v("digitalocean", "cloud", "digitalocean", "digitalocean.com digitaloceanspaces.com"),
    _v("hetzner", "cloud", "hetzner", "hetzner.com hetzner.cloud"),
    _v("ovh", "cloud", "ovh; ovhcloud", "ovh.net ovh.com ovhcloud.com"),
    _v("heroku", "cloud", "heroku", "heroku.com herokuapp.com"),
    _v("vercel", "cloud", "vercel", "vercel.com vercel.app vercel-status.com"),
    _v("netlify", "cloud", "netlify", "netlify.com netlify.app netlifystatus.com"),
    _v("fly.io", "cloud", "fly.io", "fly.io fly.dev"),
    _v("render", "cloud", "render.com", "render.com onrender.com", "render"),
    _v("mongodb atlas", "cloud", "mongodb atlas", "mongodb.net cloud.mongodb.com"),
    _v("snowflake", "cloud", "snowflake", "snowflakecomputing.com snowflake.com"),
    _v("confluent", "cloud", "confluent cloud", "confluent.cloud confluent.io", "confluent"),
    _v("supabase", "cloud", "supabase", "supabase.co supabase.com"),
    _v("planetscale", "cloud", "planetscale", "planetscale.com psdb.cloud"),
    _v("redis cloud", "cloud", "redis cloud", "redislabs.com redis-cloud.com"),
    _v("elastic cloud", "cloud", "elastic cloud", "elastic-cloud.com found.io"),
    _v("algolia", "saas", "algolia", "algolia.net algolia.com"),
    _v("okta", "auth", "okta", "okta.com oktapreview.com"),
    _v("auth0", "auth", "auth0", "auth0.com"),
    _v("onelogin", "auth", "onelogin", "onelogin.com"),
    _v("entra id", "auth", "azure ad; entra id", "login.microsoftonline.com"),
    _v("keycloak cloud", "auth", "", "", "keycloak"),
    _v("digilocker", "auth", "digilocker", "digilocker.gov.in"),
    _v("uidai", "auth", "uidai; aadhaar", "uidai.gov.in"),
    _v("onfido", "auth", "onfido", "onfido.com"),
    _v("hyperverge", "auth", "hyperverge", "hyperverge.co"),
    _v("cloudflare", "cdn", "cloudflare", "cloudflare.com cloudflarestatus.com"),
    _v("fastly", "cdn", "fastly", "fastly.net fastly.com fastlystatus.com"),
    _v("akamai", "cdn", "akamai", "akamai.net akamaized.net akamai.com"),
    _v("cloudfront", "cdn", "cloudfront", "cloudfront.net"),
    _v("imperva", "cdn", "imperva; incapsula", "imperva.com incapdns.net"),
    _v("salesforce", "saas", "salesforce", "salesforce.com force.com"),
    _v("hubspot", "saas", "hubspot", "hubspot.com hubapi.com"),
    _v("zendesk", "saas", "zendesk", "zendesk.com"),
    _v("freshdesk", "saas", "freshdesk; freshworks", "freshdesk.com"),
    _v("intercom", "saas", "", "intercom.io intercom.com", "intercom"),
    _v("shopify", "saas", "shopify", "shopify.com myshopify.com shopifystatus.com"),
    _v("openai", "saas", "openai", "openai.com"),
    _v("anthropic", "saas", "anthropic", "anthropic.com"),
    _v("segment", "saas", "segment.io", "segment.io segment.com", "segment"),
    _v("launchdarkly", "saas", "launchdarkly", "launchdarkly.com"),
    _v("google maps", "saas", "google maps", "maps.googleapis.com"),
    _v("mapbox", "saas", "mapbox", "mapbox.com"),
    _v("docusign", "saas", "docusign", "docusign.net docusign.com"),
    _v("contentful", "saas", "contentful", "contentful.com"),
    _v("fedex", "logistics", "fedex", "fedex.com"),
    _v("ups", "logistics", "", "ups.com", "ups"),
    _v("dhl", "logistics", "dhl", "dhl.com"),
    _v("delhivery", "logistics", "delhivery", "delhivery.com"),
    _v("shiprocket", "logistics", "shiprocket", "shiprocket.in"),
    _v("easypost", "logistics", "easypost", "easypost.com"),
    _v("shippo", "logistics", "shippo", "goshippo.com"),
    _v("sabre", "travel", "", "sabre.com", "sabre"),
    _v("amadeus", "travel", "amadeus", "amadeus.com"),
    _v("github", "work", "github", "github.com githubstatus.com"),
    _v("gitlab", "work", "gitlab.com", "gitlab.com", "gitlab"),
    _v("bitbucket", "work", "bitbucket", "bitbucket.org"),
    _v("circleci", "work", "circleci", "circleci.com"),
    _v("docker hub", "work", "docker hub; dockerhub", "docker.io hub.docker.com dockerstatus.com"),
    _v("npm", "work", "npm registry", "npmjs.org npmjs.com", "npm"),
    _v("pypi", "work", "pypi", "pypi.org pythonhosted.org"),
    _v("atlassian", "work", "atlassian", "atlassian.net atlassian.com", "jira; confluence"),
    _v("slack", "work", "", "slack.com slack-status.com", "slack"),
    _v("zoom", "work", "", "zoom.us", "zoom"),
    _v("microsoft 365", "work", "microsoft 365; office 365; office365", "office365.com office.com"),
    _v("google workspace", "work", "google workspace", ""),
)

# Where a text merely mentions these, they are the place something runs or a tool of the team, seldom what fails.
_ONLY_WHEN_NAMED = frozenset({"cloud", "work"})
_BY_NAME = {alias.casefold(): v for v in VENDORS for alias in (v.name, *v.aliases, *v.words)}
_HOSTS = {host: v for v in VENDORS for host in v.hosts}
_HOST = re.compile(r"(?<![\w@.-])(?:https?://)?((?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,12})(?![\w-])", re.IGNORECASE)


def _pattern(names: Iterable[str]) -> re.Pattern[str]:
    """One pattern for many names: a name may start a CamelCase word (RazorpayTimeoutError) but not sit inside one."""
    longest_first = sorted((re.escape(name) for name in {*names} if name), key=lambda form: (-len(form), form))
    return re.compile(r"(?<![A-Za-z0-9@/.-])(?i:" + "|".join(longest_first) + r")(?![a-z0-9])")


_IN_TEXT = _pattern(a for v in VENDORS if v.category not in _ONLY_WHEN_NAMED for a in v.aliases)
_ANYWHERE = _pattern(a for v in VENDORS for a in v.aliases)


@lru_cache(maxsize=64)
def _known_pattern(names: frozenset[str]) -> re.Pattern[str]:
    return _pattern(names)


def named_vendor(name: str) -> str:
    """The table's name for what a label calls the vendor; a vendor nobody listed keeps its own name, folded."""
    folded = " ".join(name.casefold().split())
    found = _BY_NAME.get(folded) or _BY_NAME.get(folded.replace("-", " ").replace("_", " "))
    return found.name if found else folded


def vendor_of_host(host: str) -> str | None:
    """Whose host this is, by its suffix; None for a host nobody listed."""
    labels = host.casefold().rstrip(".").split(".")
    tails = (".".join(labels[i:]) for i in range(len(labels) - 1))
    return next((_HOSTS[tail].name for tail in tails if tail in _HOSTS), None)


def category_of(name: str) -> str | None:
    """The category of a vendor of the table ("payments", "cloud", ...), None if it is not in the table."""
    found = _BY_NAME.get(name.casefold())
    return found.category if found else None


def find_vendor(text: str, known: frozenset[str] = frozenset(), *, anywhere: bool = False) -> str | None:
    """The first vendor that the text names; `known` adds names from the records.

    Cloud and work tools count only with `anywhere` (the text is about a vendor, as on a status page).
    """
    matches = [m for m in [(_ANYWHERE if anywhere else _IN_TEXT).search(text)] if m]
    if any(known):
        matches += [m for m in [_known_pattern(known).search(text)] if m]
    first = min(matches, key=lambda m: m.start(), default=None)
    return named_vendor(first[0]) if first else None


def vendor_in_hosts(text: str, *, anywhere: bool = False) -> str | None:
    """The vendor whose host an error text names ("POST https://api.stripe.com/... 503")."""
    for match in _HOST.finditer(text):
        name = vendor_of_host(match[1])
        if name and (anywhere or category_of(name) not in _ONLY_WHEN_NAMED):
            return name
    return None
