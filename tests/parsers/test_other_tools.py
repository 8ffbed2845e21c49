"""Posts of further tools, written for these tests, in nine languages: no parser knows them, the structure of the posts does."""

from __future__ import annotations

from typing import Any

import pytest

from bot.domain.alerts.alert import Alert
from bot.parsers import read


def post(text: str = "", **more: Any) -> dict[str, Any]:
    event = {"type": "message", "ts": "1.0", "bot_id": "B1", "subtype": "bot_message", "username": "hook", "text": text}
    return {**event, **more}


POSTS: dict[str, dict[str, Any]] = {
    'site24x7': post(attachments=[{'color': '#fc1f1f', 'title': 'Booking site is Down', 'title_link': 'https://www.site24x7.com/app/client#/home/monitors/1', 'fields': [{'title': 'Monitor Name', 'value': 'Booking site'}, {'title': 'Status', 'value': 'DOWN'}, {'title': 'Monitor Type', 'value': 'URL'}, {'title': 'Failed Locations', 'value': 'Paris, Frankfurt'}, {'title': 'Reason', 'value': 'HTTP 503 Service Unavailable'}]}]),
    'site24x7_up': post(attachments=[{'color': '#2bb24c', 'title': 'Booking site is Up', 'title_link': 'https://www.site24x7.com/app/client#/home/monitors/1', 'fields': [{'title': 'Monitor Name', 'value': 'Booking site'}, {'title': 'Status', 'value': 'UP'}, {'title': 'Monitor Type', 'value': 'URL'}, {'title': 'Downtime Duration', 'value': '6 Mins'}]}]),
    'solarwinds_de': post(attachments=[{'title': 'Warnung: Knoten core-rtr-muc-1 ist ausgefallen', 'color': '#e01e5a', 'text': 'Der Knoten antwortet nicht auf ICMP.', 'fallback': 'Warnung: Knoten core-rtr-muc-1 ist ausgefallen', 'title_link': '', 'fields': [{'title': 'Knoten', 'value': 'core-rtr-muc-1'}, {'title': 'Schweregrad', 'value': 'Kritisch'}, {'title': 'Umgebung', 'value': 'Produktion'}, {'title': 'Region', 'value': 'eu-central-1'}]}]),
    'solarwinds_de_ok': post(attachments=[{'title': 'Entwarnung: Knoten core-rtr-muc-1 ist wieder erreichbar', 'color': '#2eb886', 'text': '', 'fallback': 'Entwarnung: Knoten core-rtr-muc-1 ist wieder erreichbar', 'title_link': '', 'fields': [{'title': 'Knoten', 'value': 'core-rtr-muc-1'}, {'title': 'Schweregrad', 'value': 'Kritisch'}, {'title': 'Umgebung', 'value': 'Produktion'}, {'title': 'Region', 'value': 'eu-central-1'}]}]),
    'centreon_fr': post(":red_circle: *ALERTE* : Le service `paiement-api` est indisponible\n*Hôte* : srv-lyon-04\n*Gravité* : critique\n*Environnement* : production\n*Prestataire* : Stripe\nErreur : délai d'attente dépassé après 30 s"),
    'centreon_fr_ok': post(':large_green_circle: *RÉTABLI* : Le service `paiement-api` est de nouveau disponible\n*Hôte* : srv-lyon-04\n*Gravité* : critique\n*Environnement* : production\n*Prestataire* : Stripe'),
    'pandora_es': post('[Pandora] Alerta disparada: Uso de disco en bd-valencia-1\nAgente: bd-valencia-1\nMódulo: disco /var\nValor: 96 % (umbral: 90 %)\nPrioridad: alta\nEntorno: preproducción'),
    'pandora_es_ok': post('[Pandora] Alerta recuperada: Uso de disco en bd-valencia-1\nAgente: bd-valencia-1\nMódulo: disco /var\nValor: 71 % (umbral: 90 %)\nPrioridad: alta\nEntorno: preproducción'),
    'mackerel_ja': post(attachments=[{'color': '#c93a40', 'title': '[CRITICAL] CPU使用率 が 閾値を超えました web-osaka-2', 'text': 'サービス: 注文API\nロール: web\nCPU使用率: 97.4% (閾値 90%)\n発生時刻: 2026-11-29 12:00', 'title_link': 'https://mackerel.example/orgs/a/alerts/1'}]),
    'mackerel_ja_ok': post(attachments=[{'color': '#2eb886', 'title': '[OK] CPU使用率 が 正常に戻りました web-osaka-2', 'text': 'サービス: 注文API\nロール: web\nCPU使用率: 41% (閾値 90%)', 'title_link': 'https://mackerel.example/orgs/a/alerts/1'}]),
    'zabbix_pt': post(attachments=[{'title': 'PROBLEMA: Fila de e-mails parada no servidor smtp-sp-2', 'color': 'E97659', 'text': '', 'fallback': 'PROBLEMA: Fila de e-mails parada no servidor smtp-sp-2', 'title_link': '', 'fields': [{'title': 'Servidor', 'value': 'smtp-sp-2'}, {'title': 'Severidade', 'value': 'Alta'}, {'title': 'Ambiente', 'value': 'Produção'}, {'title': 'Região', 'value': 'sa-east-1'}, {'title': 'Fornecedor', 'value': 'SendGrid'}]}]),
    'zabbix_pt_ok': post(attachments=[{'title': 'RESOLVIDO: Fila de e-mails parada no servidor smtp-sp-2', 'color': '7EC25C', 'text': '', 'fallback': 'RESOLVIDO: Fila de e-mails parada no servidor smtp-sp-2', 'title_link': '', 'fields': [{'title': 'Servidor', 'value': 'smtp-sp-2'}, {'title': 'Severidade', 'value': 'Alta'}, {'title': 'Ambiente', 'value': 'Produção'}, {'title': 'Região', 'value': 'sa-east-1'}, {'title': 'Fornecedor', 'value': 'SendGrid'}]}]),
    'squadcast': post(attachments=[{'color': '#e53935', 'pretext': '*Incident Triggered*', 'title': '[#6541] Refund worker queue depth too high', 'title_link': 'https://app.squadcast.example/incident/6541', 'fields': [{'title': 'Service', 'value': 'refund-worker'}, {'title': 'Assigned To', 'value': 'Payments On-call'}, {'title': 'Status', 'value': 'Triggered'}, {'title': 'Tags', 'value': 'env:prod, severity:critical'}]}]),
    'squadcast_ack': post(attachments=[{'color': '#fbc02d', 'pretext': '*Incident Acknowledged* by Riya', 'title': '[#6541] Refund worker queue depth too high', 'title_link': 'https://app.squadcast.example/incident/6541', 'fields': [{'title': 'Service', 'value': 'refund-worker'}, {'title': 'Status', 'value': 'Acknowledged'}, {'title': 'Tags', 'value': 'env:prod, severity:critical'}]}]),
    'bugsnag': post(attachments=[{'color': '#f14343', 'fallback': '[storefront] production: 41 events ECONNREFUSED', 'pretext': '*41 events* in *production* from <https://app.bugsnag.example/acme/storefront|storefront> in `orders#create`', 'title': 'ECONNREFUSED: connect ECONNREFUSED 10.2.0.9:5432', 'title_link': 'https://app.bugsnag.example/acme/storefront/errors/5f'}]),
    'gcp': post(attachments=[{'color': '#d93025', 'title': 'Incident #0.mzx7k8 is ongoing', 'title_link': 'https://console.cloud.google.com/monitoring/alerting/incidents/0.mzx7k8', 'text': '*Cloud Run request latency for checkout*\nRequest latency for acme-prod checkout with metric labels {response_code_class=5xx} is above the threshold of 2000 ms with a value of 5312 ms.', 'fields': [{'title': 'Policy', 'value': 'Cloud Run request latency'}, {'title': 'Condition', 'value': 'Request latency p99'}, {'title': 'Severity', 'value': 'Critical'}, {'title': 'Start time', 'value': 'Nov 29, 2026'}]}]),
    'gcp_closed': post(attachments=[{'color': '#188038', 'title': 'Incident #0.mzx7k8 is closed', 'title_link': 'https://console.cloud.google.com/monitoring/alerting/incidents/0.mzx7k8', 'text': '*Cloud Run request latency for checkout*\nRequest latency for acme-prod checkout with metric labels {response_code_class=5xx} returned to normal with a value of 480 ms.', 'fields': [{'title': 'Policy', 'value': 'Cloud Run request latency'}, {'title': 'Condition', 'value': 'Request latency p99'}, {'title': 'Severity', 'value': 'Critical'}]}]),
    'statusgator': post(attachments=[{'color': '#ff9900', 'title': 'Twilio is reporting a warning', 'title_link': 'https://statusgator.example/services/twilio', 'text': 'SMS delivery delays to carriers in India\n*Components:* Programmable Messaging'}]),
    'statusgator_up': post(attachments=[{'color': '#2eb886', 'title': 'Twilio is operational again', 'title_link': 'https://statusgator.example/services/twilio', 'text': 'SMS delivery delays to carriers in India have been resolved'}]),
    'victorops': post('*CRITICAL* incident <https://portal.victorops.example/#/incident/1288|#1288> on *inventory-db* : replication lag 840s\nTriggered by: nagios-fra | Monitoring tool: Nagios'),
    'victorops_rec': post('*RECOVERY* incident <https://portal.victorops.example/#/incident/1288|#1288> on *inventory-db* : replication lag 2s\nTriggered by: nagios-fra | Monitoring tool: Nagios'),
    'robusta': post(blocks=[{'type': 'header', 'text': {'type': 'plain_text', 'text': '🔥 Prometheus Alert Firing 🔥'}}, {'type': 'section', 'text': {'type': 'mrkdwn', 'text': '*KubeDeploymentReplicasMismatch*'}}, {'type': 'context', 'elements': [{'type': 'mrkdwn', 'text': '🟠 High'}, {'type': 'mrkdwn', 'text': '*Source:* `prod-eks-1`'}]}, {'type': 'section', 'text': {'type': 'mrkdwn', 'text': 'Deployment cart/cart-api has not matched the expected number of replicas for longer than 15 minutes.'}}]),
    'robusta_ok': post(blocks=[{'type': 'header', 'text': {'type': 'plain_text', 'text': '✅ Prometheus Alert Resolved ✅'}}, {'type': 'section', 'text': {'type': 'mrkdwn', 'text': '*KubeDeploymentReplicasMismatch*'}}, {'type': 'context', 'elements': [{'type': 'mrkdwn', 'text': '🟠 High'}, {'type': 'mrkdwn', 'text': '*Source:* `prod-eks-1`'}]}]),
    'wazuh_pt': post('🚨 Alerta crítico – API de pagamentos fora do ar (HTTP 502)\nAmbiente: produção\nServiço: pagamentos-api\nHorário: 29/11 14:02'),
    'kr': post('[장애] 결제 API 응답 지연\n심각도: 심각\n서비스: 결제-api\n환경: 운영\n현재값: 4.2s (임계값 2s)'),
    'kr_ok': post('[복구] 결제 API 응답 지연\n심각도: 심각\n서비스: 결제-api\n환경: 운영'),
    'rabbit_it': post('🔴 ALLARME: coda ordini bloccata su mq-mil-1\nAmbiente: produzione\nGravità: critica\nErrore: connection refused'),
    'rabbit_it_ok': post('🟢 RISOLTO: coda ordini bloccata su mq-mil-1\nAmbiente: produzione\nGravità: critica'),
    'logicmonitor': post(attachments=[{'color': '#ff0000', 'title': 'critical - db-prod-3 Disk usage-/var/lib UsedPercent', 'text': 'LM ALERT: *LMD8812* critical \nHost: db-prod-3\nDatapoint: UsedPercent\nLevel: critical\nValue: 96.2\nThreshold: > 80 90 95\nStart: 2026-11-29 20:10'}]),
    'logicmonitor_ok': post(attachments=[{'color': '#00b050', 'title': 'cleared - db-prod-3 Disk usage-/var/lib UsedPercent', 'text': 'LM ALERT: *LMD8812* cleared \nHost: db-prod-3\nDatapoint: UsedPercent\nValue: 61'}]),
    'sumo': post(attachments=[{'color': '#BF2121', 'title': 'Critical: Payment errors by gateway', 'text': 'Monitor triggered at 11/29/2026', 'fields': [{'title': 'Status', 'value': 'Critical', 'short': True}, {'title': 'Trigger condition', 'value': 'Greater than 50 in 5 minutes', 'short': True}, {'title': 'Trigger value', 'value': '312', 'short': True}, {'title': 'Query', 'value': '_sourceCategory=prod/checkout error', 'short': True}]}]),
    'sumo_rec': post(attachments=[{'color': '#2ca02c', 'title': 'ResolvedCritical: Payment errors by gateway', 'text': '', 'fields': [{'title': 'Status', 'value': 'Resolved', 'short': True}]}]),
    'de_msg': post('ALARM: CPU-Auslastung auf app-ham-2 liegt bei 98 % (Schwellwert 90 %)\nSystem: bestellung-api\nUmgebung: Produktion'),
    'de_msg_ok': post('OK: CPU-Auslastung auf app-ham-2 liegt bei 34 % (Schwellwert 90 %)\nSystem: bestellung-api\nUmgebung: Produktion'),
    'fr_supervision': post('[CRITIQUE] Espace disque faible sur srv-nantes-2\nValeur actuelle : 3 % (seuil : 10 %)\nEnvironnement : production'),
    'fr_supervision_ok': post('[OK] Espace disque faible sur srv-nantes-2\nValeur actuelle : 41 % (seuil : 10 %)\nEnvironnement : production'),
    'es_msg': post('⚠️ Latencia alta en api-pagos (p95 = 2.8 s, límite 1 s)\nregión: eu-south-2 | entorno: producción | proveedor: Redsys'),
    'pt_msg': post('❌ Falha no job `conciliacao-diaria`: código de saída 1\nAmbiente: produção'),
    'ja_msg': post('🚨【緊急】API Gateway 5xx エラー率が 12% を超えました\n環境：本番\nリージョン：ap-northeast-1\nベンダー：Stripe'),
    'db_vendor_tr': post(':red_circle: UYARI: ödeme servisi yanıt vermiyor\nSunucu: ist-web-1\nÖnem: kritik'),
    'instana': post(attachments=[{'color': '#e74c3c', 'title': 'Incident opened: Erroneous call rate on payments-gw is too high', 'fields': [{'title': 'Severity', 'value': 'critical', 'short': True}, {'title': 'Application', 'value': 'payments-gw', 'short': True}, {'title': 'Zone', 'value': 'eu-central-1', 'short': True}]}]),
    'instana_closed': post(attachments=[{'color': '#27ae60', 'title': 'Incident closed: Erroneous call rate on payments-gw is too high', 'fields': [{'title': 'Severity', 'value': 'critical', 'short': True}, {'title': 'Application', 'value': 'payments-gw', 'short': True}, {'title': 'Zone', 'value': 'eu-central-1', 'short': True}]}]),
    'incidentio_like': post('*SEV-2* declared by monitoring: checkout conversion dropped to 41% (baseline 78%)\nService: checkout\nRegion: us-east-1'),
}  # fmt: skip

# name: (state, title, severity, service, environment, region, vendor)
FACTS: dict[str, tuple[str | None, ...]] = {
    'site24x7': ('firing', 'Booking site', None, None, None, None, None),
    'site24x7_up': ('resolved', 'Booking site', None, None, None, None, None),
    'solarwinds_de': ('firing', 'Knoten core-rtr-muc-1 ist ausgefallen', 'critical', None, 'production', 'eu-central-1', None),
    'solarwinds_de_ok': ('resolved', 'Knoten core-rtr-muc-1 ist wieder erreichbar', 'critical', None, 'production', 'eu-central-1', None),
    'centreon_fr': ('firing', 'Le service paiement-api est indisponible', 'critical', 'paiement-api', 'production', None, 'stripe'),
    'centreon_fr_ok': ('resolved', 'Le service paiement-api est de nouveau disponible', 'critical', 'paiement-api', 'production', None, 'stripe'),
    'pandora_es': ('firing', 'Uso de disco en bd-valencia-1', 'high', None, 'preproduction', None, None),
    'pandora_es_ok': ('resolved', 'Uso de disco en bd-valencia-1', 'high', None, 'preproduction', None, None),
    'mackerel_ja': ('firing', 'CPU使用率 が 閾値を超えました web-osaka-2', 'critical', '注文API', None, None, None),
    'mackerel_ja_ok': ('resolved', 'CPU使用率 が 正常に戻りました web-osaka-2', None, '注文API', None, None, None),
    'zabbix_pt': ('firing', 'Fila de e-mails parada no servidor smtp-sp-2', 'high', None, 'production', 'sa-east-1', 'sendgrid'),
    'zabbix_pt_ok': ('resolved', 'Fila de e-mails parada no servidor smtp-sp-2', 'high', None, 'production', 'sa-east-1', 'sendgrid'),
    'squadcast': ('firing', 'Refund worker queue depth too high', 'critical', 'refund-worker', 'prod', None, None),
    'squadcast_ack': ('acknowledged', 'Refund worker queue depth too high', 'critical', 'refund-worker', 'prod', None, None),
    'bugsnag': ('firing', 'ECONNREFUSED: connect ECONNREFUSED 10.2.0.9:5432', None, None, 'production', None, None),
    'gcp': ('firing', 'Cloud Run request latency for checkout', 'critical', None, None, None, None),
    'gcp_closed': ('resolved', 'Cloud Run request latency for checkout', 'critical', None, None, None, None),
    'statusgator': ('firing', 'Twilio is reporting a warning', None, None, None, None, 'twilio'),
    'statusgator_up': ('resolved', 'Twilio is operational again', None, None, None, None, 'twilio'),
    'victorops': ('firing', 'replication lag 840s on inventory-db', 'critical', 'inventory-db', None, None, None),
    'victorops_rec': ('resolved', 'replication lag 2s on inventory-db', None, 'inventory-db', None, None, None),
    'robusta': ('firing', 'KubeDeploymentReplicasMismatch', 'high', 'cart-api', None, None, None),
    'robusta_ok': ('resolved', 'KubeDeploymentReplicasMismatch', 'high', None, None, None, None),
    'wazuh_pt': ('firing', 'API de pagamentos fora do ar', 'critical', 'pagamentos-api', 'production', None, None),
    'kr': ('firing', '결제 API 응답 지연', 'critical', '결제-api', 'prod', None, None),
    'kr_ok': ('resolved', '결제 API 응답 지연', 'critical', '결제-api', 'prod', None, None),
    'rabbit_it': ('firing', 'coda ordini bloccata su mq-mil-1', 'critical', None, 'production', None, None),
    'rabbit_it_ok': ('resolved', 'coda ordini bloccata su mq-mil-1', 'critical', None, 'production', None, None),
    'logicmonitor': ('firing', 'db-prod-3 Disk usage-/var/lib UsedPercent', 'critical', None, 'prod', None, None),
    'logicmonitor_ok': ('resolved', 'db-prod-3 Disk usage-/var/lib UsedPercent', None, None, 'prod', None, None),
    'sumo': ('firing', 'Payment errors by gateway', 'critical', None, None, None, None),
    'sumo_rec': ('resolved', 'Payment errors by gateway', None, None, None, None, None),
    'de_msg': ('firing', 'CPU-Auslastung auf app-ham-2', None, 'bestellung-api', 'production', None, None),
    'de_msg_ok': ('resolved', 'CPU-Auslastung auf app-ham-2', None, 'bestellung-api', 'production', None, None),
    'fr_supervision': ('firing', 'Espace disque faible sur srv-nantes-2', 'critical', None, 'production', None, None),
    'fr_supervision_ok': ('resolved', 'Espace disque faible sur srv-nantes-2', None, None, 'production', None, None),
    'es_msg': ('firing', 'Latencia alta en api-pagos (p95 = 2.8 s, límite 1 s)', None, 'api-pagos', 'production', 'eu-south-2', 'redsys'),
    'pt_msg': ('firing', 'Falha no job conciliacao-diaria: código de saída 1', None, 'conciliacao-diaria', 'production', None, None),
    'ja_msg': ('firing', 'API Gateway 5xx エラー率が 12% を超えました', 'critical', None, 'prod', 'ap-northeast-1', 'stripe'),
    'db_vendor_tr': ('firing', 'ödeme servisi yanıt vermiyor', 'critical', None, None, None, None),
    'instana': ('firing', 'Erroneous call rate on payments-gw is too high', 'critical', 'payments-gw', None, 'eu-central-1', None),
    'instana_closed': ('resolved', 'Erroneous call rate on payments-gw is too high', 'critical', 'payments-gw', None, 'eu-central-1', None),
    'incidentio_like': ('firing', 'SEV-2 declared by monitoring: checkout conversion dropped', 'high', 'checkout', None, 'us-east-1', None),
}  # fmt: skip


def alert(name: str) -> Alert:
    found = read(POSTS[name])
    assert isinstance(found, Alert), (name, found)
    return found


@pytest.mark.parametrize("name", POSTS)
def test_facts(name: str) -> None:
    a = alert(name)
    severity = a.severity.value if a.severity else None
    assert (a.state.value, a.title, severity, a.service, a.environment, a.region, a.vendor) == FACTS[name]


ENDS = [name for name in POSTS if name.endswith(("_up", "_ok", "_ack", "_rec", "_closed"))]


@pytest.mark.parametrize("end", ENDS)
def test_the_end_has_the_fingerprint_of_its_alert(end: str) -> None:
    assert alert(end).fingerprint == alert(end.rpartition("_")[0]).fingerprint


def test_different_alerts_have_different_fingerprints() -> None:
    firsts = [name for name in POSTS if name not in ENDS]
    assert len({alert(name).fingerprint for name in firsts}) == len(firsts)


@pytest.mark.parametrize(
    ("name", "symptom"),
    [
        ("site24x7", (None, None, None, None, "HTTP 503")),
        ("centreon_fr", (None, None, None, None, "délai d'attente dépassé")),
        ("pandora_es", ("valor", "96 %", ">", "90 %", None)),
        ("mackerel_ja", ("cpu使用率", "97.4%", ">", "90%", None)),
        ("gcp", ("Request latency", "5312 ms", ">", "2000 ms", None)),
        ("wazuh_pt", (None, None, None, None, "HTTP 502")),
        ("de_msg", ("CPU-Auslastung auf app-ham-2", "98 %", ">", "90 %", None)),
        ("pt_msg", (None, None, None, None, "código de saída 1")),
        ("incidentio_like", ("checkout conversion", "41%", ">", "78%", None)),
        ("kr", ("현재값", "4.2s", ">", "2s", None)),
        ("rabbit_it", (None, None, None, None, "connection refused")),
    ],
)
def test_symptoms(name: str, symptom: tuple[str | None, ...]) -> None:
    assert symptom in [(s.name, s.value, s.op, s.threshold, s.code) for s in alert(name).symptoms]
