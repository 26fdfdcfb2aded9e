"""How the class list of CDS archives takes in what jobs loaded."""

from __future__ import annotations

from vas_tests.record_classes import merged


def test_a_list_keeps_what_others_loaded_and_forgets_our_old_names() -> None:
    old = ["# What tasks load.", "a/B", "org/vas/Old", "@lambda-proxy a/B run ()V"]
    dumped = ["org/vas/New id: 7", "java/lang/Object", "c/D$$FastClassByGuice$$1"]
    dumped += ["@lambda-proxy c/D run ()V"]
    new = ["# What tasks load.", "a/B", "org/vas/New"]
    new += ["@lambda-proxy a/B run ()V", "@lambda-proxy c/D run ()V"]
    given = "\n".join([*old, "@lambda-proxy org/vas/Old run ()V"])
    assert merged(given, ["\n".join(dumped)], "java/lang/Object\n").splitlines() == new
