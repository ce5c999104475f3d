"""The compiled steps of counting; importing the module loads numba."""
