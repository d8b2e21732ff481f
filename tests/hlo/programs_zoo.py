"""Every variant of every model pair, in JAX, at its smallest size; run by a child process that imports JAX."""

from __future__ import annotations


def programs():
    from xlacompare.frameworks import jax as framework
    from xlacompare.frameworks.program import Settings, variants_of
    from xlacompare.model_spec import load_apply
    from xlacompare.registry import built_in_names, find_model
    from xlacompare.worker.tasks.program import build_model

    found = {}
    for name in built_in_names():
        model = find_model(name)
        apply = load_apply(model.folder, "jax")
        request = {"seed": 0, "size": next(iter(model.spec.sizes.values()))}
        for variant in variants_of(model.spec):
            program = build_model(framework, model.spec, apply, request, Settings(variant=variant))
            # The program's own steps are its business; here its function is compiled by the one who traces it.
            found[f"{name} {variant}"] = (program._function, program._arguments)
    return found
