"""XSpace files (``.xplane.pb``) of TensorFlow and JAX."""
