"""Say what a framework is here: versions and device."""

from __future__ import annotations

from typing import Any, Dict

from xlacompare.frameworks import adapter


def run(request: "Dict[str, Any]", reporter: Any) -> "Dict[str, Any]":
    framework = adapter(request["framework"])
    reporter.stage("device")
    return {
        "versions": framework.versions(),
        "device": framework.device(),
        "precision": framework.precision(),
    }
