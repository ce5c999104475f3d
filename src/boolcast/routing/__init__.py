"""The broker core: stimuli in, effects out; no input, output, clock or chance."""
