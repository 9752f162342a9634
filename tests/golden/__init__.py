"""Golden cases: a small session, what was asked, and what came out, to be read by a person.

    <case>/input.json|jsonl     the session
    <case>/settings.toml        what is done with it: a policy with a target, or one pass with its values
    <case>/view.json            what the model is sent, part by part
    <case>/request.FORMAT.json  the same on the wire, for each format that the settings name
    <case>/session.FORMAT.*     the same as another agent's file
    <case>/report.json          what was done, durations left out

`python -m tests.golden.regenerate` writes all but the first two anew; read the difference before you commit it.
"""
