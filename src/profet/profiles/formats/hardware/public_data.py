"""Words of the public data on hardware metrics (Hur and Lee): its instances, and columns that tell of the run."""

INSTANCES = {"g4dn": "g4dn.xlarge", "g5": "g5.xlarge", "p3": "p3.2xlarge"}
"""Instances by the short names that the data calls them."""

INSTANCE, MODEL, BATCH_SIZE, PIXELS = "Instances", "model", "batchsize", "datasize"
EPOCH_SAMPLES, EPOCH_S, TOTAL_S = "totaldata", "one_epoch_average_second", "total_latency_second"
RESULTS = (EPOCH_SAMPLES, TOTAL_S, EPOCH_S)
RUN = (INSTANCE, MODEL, BATCH_SIZE, PIXELS, *RESULTS)


def instance_name(name: str) -> str:
    """Return the full name of an instance, which the public data shortens.

    >>> instance_name("g5"), instance_name("p3.2xlarge")
    ('g5.xlarge', 'p3.2xlarge')
    """
    return INSTANCES.get(name, name)
