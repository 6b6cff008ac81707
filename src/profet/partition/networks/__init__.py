"""The networks that are split: any ONNX file, and the original's ten, built here without a download."""
