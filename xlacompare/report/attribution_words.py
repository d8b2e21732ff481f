"""An attribution in sentences: whose doing it is, what each side did, and what could not be said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xlacompare.attribution.compilers import CompilerDiff
from xlacompare.attribution.frontends import FrontendDiff, Made
from xlacompare.attribution.passes import Operation, Parting, PipelineDiff
from xlacompare.attribution.result import Attribution, Environment
from xlacompare.attribution.trials import Trial
from xlacompare.attribution.verdict import Verdict
from xlacompare.report.diff_words import Code, Sentence
from xlacompare.worker.launch import DISPLAY_NAMES

MAX_MAKERS = 6
MAX_PARTINGS = 6
MAX_NAMES = 8
MEASURE_WORDS = {
    "kernels": "kernels",
    "fusions": "fusions",
    "launches": "launches",
    "moved_bytes": "bytes moved",
    "temp_bytes": "scratch bytes",
    "run_s": "seconds a run",
}


def frontend_name(found: Attribution, key: str) -> str:
    """Return a column's frontend in words: "JAX", "TensorFlow", "JAX of jaxlib 0.4.30"."""
    environment = found.environment(key)
    name = DISPLAY_NAMES.get(environment.framework, key)
    twins = [each for each in found.environments if each.framework == environment.framework]
    return name if len(twins) == 1 else f"{name} of {environment.label}"


def compiler_name(found: Attribution, key: str) -> str:
    """Return a column's compiler in words: "the XLA of jaxlib 0.10.2"."""
    environment = found.environment(key)
    twins = [each for each in found.environments if each.label == environment.label]
    return f"the XLA of {environment.label}" + (f" ({environment.key})" if len(twins) > 1 else "")


def answer(found: Attribution) -> list[Sentence]:
    """Return the answer: the main verdict, its numbers, and the verdicts on further environments."""
    sentences: list[Sentence] = []
    for verdict in found.verdicts:
        sentences.append(verdict_sentence(found, verdict))
    if found.verdicts:
        sentences += number_sentences(found.verdicts[0])
    return sentences


def verdict_sentence(found: Attribution, verdict: Verdict) -> Sentence:
    """Return one sentence: whose doing the difference between two environments is."""
    left, right = frontend_name(found, verdict.left), frontend_name(found, verdict.right)
    pair = f"{left} against {right}: "
    if verdict.verdict == "none":
        return (f"{pair}no difference. Both run the same kernels on the same operations.",)
    whole = "" if verdict.whole is None else f" ({_count(verdict.whole.kernels, 'kernel')} of both sides differ)"
    if verdict.verdict == "frontend":
        return (
            f"{pair}the frontends, 100 %{whole}. Either program becomes the same kernels under both compilers; the "
            "programs that the two frameworks wrote are what differs.",
        )
    if verdict.verdict == "compiler":
        if (trial := deciding_trial(found, verdict)) is not None:
            return (
                f"{pair}the compilers, 100 %{whole}, and of that all is the doing of ",
                Code(trial.flag),
                f", which {compiler_name(found, trial.column)} alone was given: without it nothing differs.",
            )
        return (
            f"{pair}the compilers, 100 %{whole}. Under one and the same compiler both frameworks' programs become the "
            "same kernels; the two XLAs are what differs.",
        )
    if verdict.verdict == "both":
        share = verdict.frontend_share
        if share is None:
            return (f"{pair}both the frontends and the compilers{whole}.",)
        under = _means(verdict.by_frontend)
        across = _means(verdict.by_compiler)
        return (
            f"{pair}both, the frontends {100 * share:.0f} %, the compilers {100 - 100 * share:.0f} %{whole}. Under one "
            f"compiler {under} kernels of the two programs differ; of one program, {across} under the two compilers.",
        )
    return (f"{pair}it cannot be told{whole}; what is missing is named below.",)


def deciding_trial(found: Attribution, verdict: Verdict) -> Trial | None:
    """Return the flag without which nothing would differ between the two compilers."""
    return next(
        (
            trial
            for trial in found.trials
            if trial.change == "without"
            and trial.after == 0
            and {trial.column, trial.other} == {verdict.left, verdict.right}
        ),
        None,
    )


def number_sentences(verdict: Verdict) -> Iterator[Sentence]:
    """Yield a sentence for each number whose parts do not simply add up."""
    for share in verdict.shares:
        # Two measured times never add up to the last digit.
        noise = 0.1 * max(share.left, share.right) if share.measure == "run_s" else 0
        if abs(share.interaction) > noise and share.measure in ("kernels", "launches", "moved_bytes", "run_s"):
            yield (
                f"The parts do not simply add up for {MEASURE_WORDS[share.measure]}: what the frontends change depends "
                f"on the compiler, by {amount(share.measure, share.interaction)}.",
            )


def frontend_sentences(found: Attribution) -> Iterator[Sentence]:
    """Yield what the frontends did differently, which is what a user can change in the model."""
    frontends = found.frontends
    if frontends is None:
        return
    left, right = frontend_name(found, frontends.left), frontend_name(found, frontends.right)
    counts = frontends.input_operations
    if counts is not None:
        yield (_input_words(counts, left, right),)
    if frontends.compiler is not None and counts is not None:
        compiler = compiler_name(found, frontends.compiler)
        alone = sum(_total(made) for made in (frontends.left_only, frontends.right_only))
        if alone:
            yield (
                f"After {compiler} has simplified and fused both, {_count(alone, 'operation')} "
                f"{'is' if alone == 1 else 'are'} still on one side alone, not counting those that cost nothing:",
            )
        elif counts["left_only"] or counts["right_only"]:
            yield (f"All of that was spelling: after {compiler} has simplified both, nothing is on one side alone.",)
    for name, side in ((left, frontends.left_only), (right, frontends.right_only)):
        for made in side[:MAX_MAKERS]:
            yield (f"{name} alone, from ", Code(made.maker), ": ", Code(_opcodes(made)), *_sources(made.sources))
        if len(side) > MAX_MAKERS:
            yield (f"{name} alone, from {_count(len(side) - MAX_MAKERS, 'more place')}",)
    yield from _repeated_sentences(frontends, left, right)


def compiler_sentences(found: Attribution) -> Iterator[Sentence]:
    """Yield what the compilers did differently with each program."""
    for each in found.compilers:
        apart = {verdict: count for verdict, count in each.verdicts.items() if verdict != "identical"}
        if apart:
            yield _compiler_sentence(found, each, apart)


def parting_sentences(pipeline: PipelineDiff) -> Iterator[Sentence]:
    """Yield where two pipelines part, first parting first."""
    names = pipeline.left_name, pipeline.right_name
    inputs = pipeline.input_operations_apart
    if inputs:
        yield (
            f"{names[0]} and {names[1]}: the inputs are {_count(inputs, 'operation')} apart and no pass brings them "
            "closer than that.",
        )
    if not pipeline.partings and not inputs:
        yield (f"{names[0]} and {names[1]}: no pass parts them for good.",)
    for index, parting in enumerate(pipeline.partings[:MAX_PARTINGS]):
        order = "First parted" if index == 0 else "Parted further"
        yield (
            f"{order} by ",
            *_passes(parting, names),
            f", after {parting.after}: ",
            *_distance_words(parting),
            *_touched_words(parting.operations),
        )


def option_sentences(found: Attribution) -> Iterator[Sentence]:
    """Yield the options that differ, and what trying them showed."""
    for option in found.options:
        sides = [
            f"{value} for {environment.label}" if value is not None else f"its default for {environment.label}"
            for value, environment in zip((option.left, option.right), found.environments, strict=False)
        ]
        yield (Code(option.name), f" is {' and '.join(sides)}.")
    telling = [trial for trial in found.trials if trial.explained or trial.change == "without"]
    for trial in sorted(telling, key=lambda each: -each.explained):
        yield _trial_sentence(found, trial)
    for column in dict.fromkeys(trial.column for trial in found.trials):
        rest = [trial for trial in found.trials if trial.column == column and trial not in telling]
        for idle, words in ((True, "explains nothing"), (False, "could not be tried")):
            flags = [trial.flag for trial in rest if (trial.after is not None) is idle]
            if flags:
                yield (f"On {compiler_name(found, column)}, each of these on its own {words}: ", Code(" ".join(flags)))


def doubt_sentences(found: Attribution) -> Iterator[Sentence]:
    """Yield outputs that disagree, and what could not be said."""
    for doubt in found.doubts:
        yield (f"Outputs disagree: {doubt}",)
    for sentence in found.unable:
        yield (f"Not filled: {sentence}",)


def environment_sentence(environment: Environment) -> Sentence:
    """Return what a column is."""
    versions = ", ".join(f"{name} {value}" for name, value in environment.versions.items() if name != "xla")
    flags: Sentence = (", flags ", Code(" ".join(environment.xla_flags))) if environment.xla_flags else ()
    return (f"{environment.key}: {versions or environment.label}", *flags)


def amount(measure: str, number: float | None) -> str:
    """Return a number of a measure; a dash where it is not known.

    >>> amount("kernels", 5.0), amount("moved_bytes", 1352.0), amount("kernels", 2.5), amount("run_s", 1.5e-05)
    ('5', '1,352', '2.5', '1.5e-05')
    """
    if number is None:
        return "-"
    if measure == "run_s":
        return f"{number:.3g}"
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def _input_words(counts: Mapping[str, int], left: str, right: str) -> str:
    if not counts["left_only"] and not counts["right_only"]:
        return f"The inputs hold the same {_count(counts['left'], 'operation')}."
    return (
        f"The inputs, before any optimization: {_count(counts['left'], 'operation')} from {left}, of which "
        f"{counts['left_only']} have no counterpart, and {counts['right']} from {right}, of which "
        f"{counts['right_only']} have none."
    )


def _repeated_sentences(frontends: FrontendDiff, left: str, right: str) -> Iterator[Sentence]:
    for each in frontends.repeated[:MAX_MAKERS]:
        more, fewer = (left, right) if each.left_times > each.right_times else (right, left)
        times = sorted((each.left_times, each.right_times))
        yield (
            f"{more} recomputes ",
            Code(f"{each.opcode} {each.shape}"),
            " of ",
            Code(each.maker),
            f": in {times[1]} places, where {fewer} has it in {times[0]}",
        )


def _compiler_sentence(found: Attribution, each: CompilerDiff, apart: Mapping[str, int]) -> Sentence:
    parts: list[str | Code] = [f"{frontend_name(found, each.frontend)}'s program: "]
    for (left, right), count in list(each.replaced.items())[:MAX_NAMES]:
        parts += [
            f"{_count(count, 'kernel')} with the same operations {'is' if count == 1 else 'are'} ",
            Code(left),
            f" under {compiler_name(found, each.left)} and ",
            Code(right),
            f" under {compiler_name(found, each.right)}; ",
        ]
    others = {verdict: count for verdict, count in apart.items() if verdict != "same_operations"}
    if others:
        words = ", ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in others.items())
        parts.append(f"groups of kernels that are cut otherwise: {words}.")
    else:
        parts[-1] = str(parts[-1]).removesuffix("; ") + "."
    return tuple(parts)


def _passes(parting: Parting, names: tuple[str, str]) -> Sentence:
    if parting.left_passes == parting.right_passes:
        return (*_codes(parting.left_passes), " on both sides, with different effect")
    parts: list[str | Code] = []
    for name, passes in zip(names, (parting.left_passes, parting.right_passes), strict=True):
        if passes:
            parts += [*(["; "] if parts else []), *_codes(passes), f" ({name}{' alone' if not parts else ''})"]
    both = bool(parting.left_passes) and bool(parting.right_passes)
    return tuple(str(part).replace(" alone)", ")") if both and not isinstance(part, Code) else part for part in parts)


def _codes(names: Sequence[str]) -> Sentence:
    parts: list[str | Code] = []
    for name in names[:MAX_NAMES]:
        parts += [*([", "] if parts else []), Code(name)]
    if len(names) > MAX_NAMES:
        parts.append(f" and {len(names) - MAX_NAMES} more")
    return tuple(parts)


def _distance_words(parting: Parting) -> Sentence:
    words = []
    for what, (before, after) in (
        ("operations without a counterpart", parting.operations_apart),
        ("kernels that differ", parting.kernels_apart),
    ):
        if after > before:
            words.append(f"{what} from {before} to {after}")
    return (", ".join(words),)


def _touched_words(operations: Sequence[Operation]) -> Sentence:
    if not operations:
        return (".",)
    counts: dict[str, int] = {}
    for operation in operations:
        name = f"{operation.opcode} {operation.shape}"
        counts[name] = counts.get(name, 0) + 1
    shown = [f"{name} x{count}" if count > 1 else name for name, count in list(counts.items())[:MAX_NAMES]]
    more = f" and {len(counts) - MAX_NAMES} more" if len(counts) > MAX_NAMES else ""
    return ("; at ", Code(", ".join(shown)), f"{more}.")


def _trial_sentence(found: Attribution, trial: Trial) -> Sentence:
    where = f"{compiler_name(found, trial.column)} {trial.change} "
    if trial.after is None:
        reason = (trial.why_not or "").split(". ")[0].splitlines()[0][:160]
        return (f"{where}", Code(trial.flag), f": not tried, {reason}.")
    if trial.explained > 0:
        effect = f"explains {trial.explained} of the {trial.before} kernels that differ between the two compilers"
    elif trial.explained < 0:
        effect = f"drives the compilers apart, from {trial.before} to {trial.after} kernels that differ"
    else:
        effect = f"explains none of the {trial.before} kernels that differ between the two compilers"
    return (where, Code(trial.flag), f": {effect}.")


def _total(made: Sequence[Made]) -> int:
    return sum(sum(each.opcodes.values()) for each in made)


def _opcodes(made: Made) -> str:
    return ", ".join(f"{opcode} x{count}" if count > 1 else opcode for opcode, count in made.opcodes.items())


def _sources(sources: Sequence[str]) -> Sentence:
    return (" at ", Code(", ".join(sources[:3]))) if sources else ()


def _means(distances: Mapping[str, object]) -> str:
    counts = sorted({getattr(each, "kernels", 0) for each in distances.values()})
    return " to ".join(str(count) for count in ([counts[0], counts[-1]] if len(counts) > 1 else counts))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
