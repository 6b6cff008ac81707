"""What a data set holds, and what is wrong with it, as facts and as terminal tables."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from profet.datasets.checks import Finding
from profet.datasets.dataset import WORKLOAD_KEY, Dataset
from profet.reports.tables import plain

_SHOWN_PER_KIND = 10


def dataset_facts(dataset: Dataset) -> dict[str, Any]:
    """Return what a data set holds, for JSON."""
    runs = dataset.runs.assign(profile=dataset.has_profile, metrics=dataset.has_metrics)
    return {
        "runs": len(runs),
        "profiles": int(runs["profile"].sum()),
        "metrics": int(runs["metrics"].sum()),
        "experiments": int(runs["experiment"].nunique()),
        "workloads": len(runs.drop_duplicates(WORKLOAD_KEY)),
        "instances": [
            {
                "instance": str(name),
                "runs": len(part),
                "profiles": int(part["profile"].sum()),
                "metrics": int(part["metrics"].sum()),
            }
            for name, part in runs.groupby("instance")
        ],
        "models": [
            {"model": str(model), "family": str(family), "workloads": len(part.drop_duplicates(WORKLOAD_KEY))}
            for (model, family), part in runs.groupby(["model", "family"])
        ],
        "operations": {"host": dataset.host_us.shape[1], "device": dataset.device_us.shape[1]},
        "fingerprint": dataset.fingerprint,
        "sources": list(dataset.sources),
    }


def dataset_table(facts: dict[str, Any]) -> Table:
    """Show the facts of a data set."""
    table = Table(title="Data set", title_justify="left", show_header=False)
    table.add_column("fact")
    table.add_column("value")
    metrics = f", {facts['metrics']} with hardware metrics" if facts["metrics"] else ""
    table.add_row("runs", f"{facts['runs']}, {facts['profiles']} of them with a profile{metrics}")
    table.add_row("workloads", f"{facts['workloads']}, in {facts['experiments']} experiments")
    for part in facts["instances"]:
        metrics = f", {part['metrics']} with metrics" if part["metrics"] else ""
        table.add_row(plain(part["instance"]), f"{part['runs']} runs, {part['profiles']} profiles{metrics}")
    for part in facts["models"]:
        table.add_row(plain(part["model"]), plain(f"{part['workloads']} workloads, family {part['family']}"))
    operations = facts["operations"]
    table.add_row("operations", f"{operations['host']} on host, {operations['device']} on device")
    table.add_row("fingerprint", facts["fingerprint"][:16])
    return table


def findings_table(findings: Sequence[Finding]) -> list[Table]:
    """Show the first findings of each kind, and how many there are."""
    tables = []
    for kind in dict.fromkeys(finding.kind for finding in findings):
        some = [finding for finding in findings if finding.kind == kind]
        more = f", the first {_SHOWN_PER_KIND} (all with --json)" if len(some) > _SHOWN_PER_KIND else ""
        table = Table(title=f"{kind}: {len(some)}{more}", title_justify="left")
        for column in ("where", "what", "what to do"):
            table.add_column(column)
        for finding in some[:_SHOWN_PER_KIND]:
            table.add_row(plain(finding.where), plain(finding.what), plain(finding.advice))
        tables.append(table)
    return tables
