"""Compare two functions at hand, and look at a dump that somebody else made.

python examples/compare_functions.py [HLO FILE OR DUMP FOLDER]
"""

import sys

import numpy as np

import xlacompare.analyze as xa


def softmax_in_jax(x):
    import jax

    return jax.nn.softmax(x)


def softmax_in_tensorflow(x):
    import tensorflow as tf

    return tf.nn.softmax(x)


def main() -> None:
    if len(sys.argv) > 1:
        module = xa.load(sys.argv[1])
        count = xa.census(module)
        print(f"{module.name}: {count.to_json()}")
        return
    x = np.linspace(-1, 1, 1024, dtype=np.float32).reshape(8, 128)
    difference = xa.compare(softmax_in_jax, softmax_in_tensorflow, (x,))
    for kernel in difference.to_json_dict()["kernels"]:
        print(kernel["verdict"], kernel["left"], kernel["right"])


if __name__ == "__main__":
    main()
