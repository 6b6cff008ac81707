"""What the shipped catalogue takes from ``SOURCES.md``: sources, the demo's prices, and specs of K80 and M60."""

from profet.instances.catalogue_file import Source

DEMO = Source(name="profet-demo", what="prices in the demo of the published predictor", date="2021")
DATA_SHEETS = Source(
    name="data-sheets", what="NVIDIA's data sheets of Tesla K80 and M60; one GPU of the two of a board"
)
AWS = Source(
    name="skypilot-aws",
    what="SkyPilot's price list of AWS; of unknown age",
    where="skypilot-org/skypilot-catalog, catalogs/v8/aws/vms.csv, commit 00148f2af3672e2229b4f7bf8157d5a3f36e3c35",
)
LAMBDA = Source(
    name="skypilot-lambda",
    what="SkyPilot's price list of Lambda; of unknown age",
    where="skypilot-org/skypilot-catalog, catalogs/v8/lambda/vms.csv,"
    " commit 0f4070387edc953d7004cff197940e1918a1d6aa",
)
EC2 = Source(
    name="ec2instances",
    what="GPUs of AWS instances",
    where="vantage-sh/ec2instances.info, scraper/aws/ec2/gpu_data.go, commit 4ef36cd2",
    licence="MIT",
    date="2026-07-20",
)
DEEPVIEW = Source(
    name="deepview",
    what="on-demand prices of AWS, Google Cloud and Azure; no region is told",
    where="CentML/DeepView.Explore, deepview-explore/react-ui/public/providers.json, commit c6b71b25",
    licence="Apache-2.0",
    date="2024-12-05",
)
NEUSIGHT = Source(
    name="neusight",
    what="peak rates and memory of GPUs",
    where="sitar-lab/NeuSight, scripts/asplos/data/device_configs, commit 6945927",
    licence="MIT",
    date="2025-06-23",
)
HABITAT = Source(
    name="habitat",
    what="compute capabilities of GPUs",
    where="geoffxy/habitat, analyzer/habitat/data/devices.yml",
    licence="Apache-2.0",
)
DEMO_PRICES = {"g3s.xlarge": 0.75, "g4dn.xlarge": 0.526, "p2.xlarge": 0.90, "p3.2xlarge": 3.06}
DATA_SHEET_RATES = {"K80": (4.37, 240.0), "M60": (4.825, 160.0)}

# Devices of NeuSight by the GPU of the instances; of two boards with the same figures, the one that AWS has.
BOARDS = {
    "MI100": "AMD Instinct MI100",
    "MI210": "AMD Instinct MI210",
    "MI250": "AMD Instinct MI250",
    "A100": "NVIDIA A100-SXM4-40GB",
    "A100-80GB": "NVIDIA A100 80GB PCIe",
    "H100": "NVIDIA H100 80GB HBM3",
    "L4": "NVIDIA L4",
    "P100": "Tesla P100-PCIE-16GB",
    "P4": "Tesla P4",
    "T4": "Tesla T4",
    "V100": "Tesla V100-PCIE-32GB",
    "V100-32GB": "Tesla V100-PCIE-32GB",
}
