"""Official clients that keep a session, each against a server on loopback."""
