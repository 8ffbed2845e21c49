"""Find environments and cloud regions in names and texts. Account and host numbers imply none."""

from __future__ import annotations

import re

_ENVIRONMENTS_LISTED = (
    "production prod prd live staging stage stg preprod pre-prod preproduction uat qa test testing dev "
    "development sandbox demo producción producao produção produktion produzione production productie "
    "продакшн прод"
)
_ENVIRONMENTS = _ENVIRONMENTS_LISTED.split()
_FOREIGN = {"本番": "prod", "本番環境": "prod", "生产": "prod", "生产环境": "prod", "正式": "prod", "ステージング": "staging",
            "検証": "staging", "预发": "staging", "测试": "test", "開発": "dev", "开发": "dev", "운영": "prod", "उत्पादन": "prod",
            "preproducción": "preproduction", "préproduction": "preproduction", "pre-producción": "preproduction", "homologação": "staging", "recette": "staging",
            "producción": "production", "produção": "production", "producao": "production", "produktion": "production",
            "produzione": "production", "productie": "production", "прод": "prod", "продакшн": "production"}  # fmt: skip
_IN_NAME = frozenset(["production", "prod", "prd", "staging", "stg", "preprod", "uat", "sandbox"])
_WORD = re.compile(r"[A-Za-z]+")

_AWS = r"(?:us-gov|us|eu|ap|sa|ca|me|af|il|cn|mx)-(?:north|south|east|west|central|northeast|southeast|northwest|southwest)-[1-9]"
_GCP = r"(?:us|europe|asia|australia|southamerica|northamerica|me|africa)-(?:east|west|north|south|central|northeast|southeast|southwest|northwest)[1-9]\d?"
_AZURE_LISTED = (
    "eastus eastus2 westus westus2 westus3 centralus northcentralus southcentralus westcentralus northeurope "
    "westeurope uksouth ukwest francecentral francesouth germanywestcentral germanynorth norwayeast "
    "switzerlandnorth swedencentral polandcentral italynorth spaincentral eastasia southeastasia japaneast "
    "japanwest koreacentral koreasouth centralindia southindia westindia australiaeast australiasoutheast "
    "australiacentral canadacentral canadaeast brazilsouth southafricanorth uaenorth qatarcentral"
)
_AZURE = _AZURE_LISTED.split()
_REGION = re.compile(
    rf"(?<![A-Za-z0-9])({_AWS}|{_GCP}|{'|'.join(_AZURE)})(?=(?:-?[a-f])?(?![A-Za-z0-9]))", re.IGNORECASE
)
_ARN = re.compile(r"\barn:[\w:/.*-]{1,300}")
_SPOKEN = {
    "mumbai": "ap-south-1", "hyderabad": "ap-south-2", "singapore": "ap-southeast-1", "sydney": "ap-southeast-2",
    "jakarta": "ap-southeast-3", "tokyo": "ap-northeast-1", "seoul": "ap-northeast-2", "osaka": "ap-northeast-3",
    "n. virginia": "us-east-1", "ohio": "us-east-2", "n. california": "us-west-1", "oregon": "us-west-2",
    "frankfurt": "eu-central-1", "zurich": "eu-central-2", "ireland": "eu-west-1", "london": "eu-west-2", "paris": "eu-west-3",
    "stockholm": "eu-north-1", "milan": "eu-south-1", "spain": "eu-south-2", "central": "ca-central-1", "são paulo": "sa-east-1",
    "sao paulo": "sa-east-1", "bahrain": "me-south-1", "uae": "me-central-1", "cape town": "af-south-1", "hong kong": "ap-east-1",
}  # fmt: skip
_LONG_NAME = re.compile(
    r"\b(?:Asia Pacific|US East|US West|Europe|EU|Canada|South America|Middle East|Africa) \(([A-Za-zãõ. ]{3,14})\)"
)


def read_environment(value: str) -> str | None:
    """Return the environment in a label value ("Production", "本番", "prod / ap-south-1"), as written, lower case."""
    for part in re.split(r"\s*[/,|–]\s*|\s+-\s+|\s+", value.strip()[:80]):
        folded = part.casefold().strip(" .`*\"'()[]")
        if folded in _FOREIGN:
            return _FOREIGN[folded]
        if folded in _ENVIRONMENTS:
            return folded
    return None


def read_environment_name(name: str) -> str | None:
    """Return the environment inside a name ("checkout-prod", "Kafka (prod)"); short ambiguous words do not count."""
    return next((w.casefold() for w in _WORD.findall(name[:300]) if w.casefold() in _IN_NAME), None)


def read_region(text: str) -> str | None:
    """Return the first cloud region in the text; resource ARNs do not count, for the fault may be elsewhere."""
    match = _REGION.search(_ARN.sub(" ", text))
    if match:
        return match[1].lower()
    spoken = _LONG_NAME.search(text)
    return _SPOKEN.get(spoken[1].casefold()) if spoken else None
