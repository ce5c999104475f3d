"""What crosses the broker's door and the wire: plain, frozen data, and the link protocol.

Stimuli go in, effects come out, messages travel between brokers, and records go to disk; `encoding`
turns messages, packets and records into bytes. The configuration says how a broker behaves.

`links` is a state machine of its own below the broker. It makes a reliable, ordered link out of a
connection that may lose, repeat, delay and reorder packets: it numbers messages and repeats them
until they are acknowledged. It also notices when a neighbour has lost its memory, and then the two
brokers tell each other everything anew.
"""
