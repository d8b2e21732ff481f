"""Model pairs: the same mathematics written once for JAX and once for TensorFlow, a folder each.

Installed as `xlacompare.models`. The folders are data: they are loaded by path, as a user's own folder is.
"""

from pathlib import Path

from xlacompare.model_spec import ModelSpec

__all__ = ["BUILT_IN_DIR", "ModelSpec"]

BUILT_IN_DIR = Path(__file__).resolve().parent
