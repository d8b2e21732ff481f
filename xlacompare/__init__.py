"""Compare what XLA makes of the same model written in JAX and in TensorFlow.

Importing this imports nothing else: `xlacompare.analyze` is the face for scripts.
"""

__version__ = "0.1.0"
