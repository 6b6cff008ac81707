"""Stands for nvidia-ml-py on a machine with one GPU that does not tell its power limit."""

# ruff: noqa: N802, N816 (names of NVML)

from types import SimpleNamespace

NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = range(4)
nvmlClocksThrottleReasonSwPowerCap = 4
MIB = 1024 * 1024


class NVMLError(Exception):
    pass


def nvmlInit():
    pass


def nvmlDeviceGetHandleByUUID(uuid):
    if uuid != b"GPU-1234":
        raise NVMLError("Not Found")
    return "gpu"


def nvmlDeviceGetClockInfo(gpu, kind):
    return (1500, 1500, 5000)[kind]


nvmlDeviceGetMaxClockInfo = nvmlDeviceGetClockInfo


def nvmlDeviceGetMemoryInfo(gpu):
    return SimpleNamespace(total=16384 * MIB, used=4096 * MIB, free=12288 * MIB)


def nvmlDeviceGetUtilizationRates(gpu):
    return SimpleNamespace(gpu=97, memory=40)


def nvmlDeviceGetCurrentClocksThrottleReasons(gpu):
    return 4


def nvmlDeviceGetPowerUsage(gpu):
    return 68_500


def nvmlDeviceGetTemperature(gpu, sensor):
    return 61


def nvmlDeviceGetPowerManagementLimit(gpu):
    raise NVMLError("Not Supported")


def nvmlDeviceGetMaxPcieLinkGeneration(gpu):
    return 3


def nvmlDeviceGetMaxPcieLinkWidth(gpu):
    return 16
