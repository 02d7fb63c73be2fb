"""What Prometheus sees of a running operator."""

import socket
import urllib.request

from prometheus_client.parser import text_string_to_metric_families


def page(address: str) -> str:
    """Empty while the server does not answer."""
    try:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=30) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


def sample(address: str, name: str, **labels: str) -> float:
    """The value of one series; 0 where there is none."""
    for family in text_string_to_metric_families(page(address)):
        for found in family.samples:
            if found.name == name and found.labels == labels:
                return float(found.value)
    return 0.0


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
