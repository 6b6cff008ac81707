"""The report of a validation: the page that one attaches to a paper."""

from collections.abc import Iterator

from profet.datasets.dataset import Dataset
from profet.evaluation.leave_out import Question, Validation
from profet.printable import one_line
from profet.reports.report import Report
from profet.reports.validation_facts import prediction_rows, report_facts, rounded, within_band
from profet.reports.validation_pictures import validation_pictures
from profet.reports.validation_tables import validation_tables

_DEFINITIONS = {
    "prediction": "Of one run on the target: from the same experiment's profile and step latency on the anchor, by"
    " a predictor that learnt from none of what was left out.",
    "MAPE": "Mean of |predicted − measured| / measured over the predictions, in percent; the mean below the models"
    " weighs each of them the same.",
    "median APE": "Median of the same.",
    "R²": "1 − Σ(predicted − measured)² / Σ(measured − mean measured)².",
    "RMSE": "Root of the mean of (predicted − measured)², in ms; long steps dominate it.",
    "in interval": "Share of the measurements that lie inside their intervals, ends included. Each interval was"
    " calibrated on models left out once more inside the fold, never on what it is scored on.",
    "its width": "Median of (upper − lower end) / prediction.",
    "member": "One of the predictors that the method blends; its MAPE is that of its own answers, the anchor's"
    " latency known, over the predictions that it answered.",
}


def validation_report(validation: Validation, dataset: Dataset) -> Report:
    """Tell a validation: errors and intervals of all, by pair and by model, and every held-out prediction.

    Args:
        validation: with at least one prediction.
        dataset: that it was made on.
    """
    kept = rounded(validation)
    question = kept.question
    return Report(
        title=f"Validation of the {question.method} method, {_left_out(question)}",
        summary=tuple(map(one_line, _summary(kept))),
        facts=report_facts(kept),
        tables=tuple(validation_tables(kept)),
        pictures=tuple(validation_pictures(kept)),
        rows=prediction_rows(validation),
        definitions=_DEFINITIONS,
        made_from={
            "folds": _folds(kept),
            "intervals": "none" if question.interval is None else f"at {100 * question.interval:g} %",
            "seed": f"{question.seed}, of the predictors",
            "data set": f"fingerprint {dataset.fingerprint}",
            "its sources": "; ".join(dataset.sources) or "not told",
        },
    )


def _left_out(question: Question) -> str:
    if question.leave_out_models:
        return f"{' and '.join(question.leave_out_models)} left out together"
    return f"{question.leave_out} left out"


def _folds(validation: Validation) -> str:
    names = sorted(set(map(str, validation.rows["left_out"])))
    known = "unknown to the predictor" if validation.question.without_latency else "known"
    return f"{len(names)} for each pair, each leaves out: {', '.join(names)}. The anchor's latency is {known}."


def _summary(validation: Validation) -> Iterator[str]:
    question, overall, models = validation.question, validation.overall, validation.models
    several = len(models) > 1
    median, mean = f"median {overall.median_ape:.2f} %", f"mean over models {validation.macro_mape:.2f} %"
    how = _left_out(question) if question.leave_out_models else f"each {question.leave_out} left out in turn"
    yield (
        f"With {how}, the {question.method} method predicts {overall.rows:,} step latencies of"
        f" {len(models)} model{'s' if several else ''} on {len(validation.pairs)} anchor → target"
        f" pair{'s' if len(validation.pairs) > 1 else ''} with a mean absolute percentage error of"
        f" {overall.mape:.2f} % ({median}, {mean})."
    )
    yield f"{100 * within_band(validation):.1f} % of the predictions lie within 10 % of what was measured."
    if several:
        least, *_, worst = sorted(models, key=lambda name: models[name].mape)
        ends = [f"{models[name].mape:.2f} % ({name})" for name in (least, worst)]
        yield f"By model the error lies between {ends[0]} and {ends[1]}."
    if overall.coverage is not None and overall.relative_width is not None and question.interval is not None:
        yield (
            f"The {100 * question.interval:g} % intervals hold {100 * overall.coverage:.1f} % of the measurements;"
            f" half of them are narrower than {100 * overall.relative_width:.1f} % of the prediction."
        )
