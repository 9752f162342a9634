"""The proxy's own pages, for whoever has the token: how it is doing, as JSON and for Prometheus.

Counts and names alone; nothing of what was said is on them. `prometheus_client` is imported when its page is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from aiohttp import web

from foldline.proxy.meters import COUNTS, Meters

STATUS = "/_foldline/status"
METRICS = "/_foldline/metrics"


def page(path: str, meters: Meters, *, about: dict[str, Any]) -> web.Response | None:
    """The page at a path; `None` where there is none."""
    if path == STATUS:
        told = {"schema": "foldline.proxy-status/1", **about, **meters.told()}
        return _closed_to_others(json.dumps(told, indent=2).encode() + b"\n", kind="application/json")
    if path == METRICS:
        return _closed_to_others(_metrics(meters), kind="text/plain; version=0.0.4; charset=utf-8")
    return None


def _closed_to_others(body: bytes, *, kind: str) -> web.Response:
    """Not to be kept, framed or read as something else."""
    headers = {
        "Content-Type": kind,
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
    }
    return web.Response(body=body, headers=headers)


def _metrics(meters: Meters) -> bytes:
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    told = meters.told()

    class Told:
        """Read anew for each scrape."""

        def collect(self) -> Iterator[Any]:
            for name in COUNTS:
                yield CounterMetricFamily(f"foldline_proxy_{name}", name.replace("_", " "), value=told[name])
            yield GaugeMetricFamily(
                "foldline_proxy_on_their_way", "requests being answered", value=told["on_their_way"]
            )
            kept = GaugeMetricFamily(
                "foldline_proxy_kept", "0: none of the last requests of a format was kept", labels=["format"]
            )
            for format, is_kept in told["kept"].items():
                kept.add_metric([format], float(is_kept))
            yield kept
            for key, label in (("outcomes", "outcome"), ("statuses", "status"), ("why", "why")):
                family = CounterMetricFamily(f"foldline_proxy_{key}", f"requests by {label}", labels=[label])
                for value, count in told[key].items():
                    family.add_metric([value], count)
                yield family

    registry = CollectorRegistry()
    registry.register(Told())
    data: bytes = generate_latest(registry)
    return data
