"""What is simulated: topologies, workloads, faults, and every legal combination of policies.

A plan is text, as on the command line. `plans.draw` turns it into objects and draws what is
`random` from the seed. Each part has its own stream of random numbers, so the same seed gives the
same network and the same requests to every policy, and their deliveries can be compared.
"""
