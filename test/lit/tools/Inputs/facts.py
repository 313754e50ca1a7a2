"""What `lintel explain --json` says of an operator: facts.py FILE OPERATOR NAME=VALUE NAME!=VALUE ..."""
import json
import subprocess
import sys

path, operator, *facts = sys.argv[1:]
found = json.loads(subprocess.run(["lintel", "explain", path, "--op", operator, "--json"], check=True, stdout=subprocess.PIPE).stdout)
for fact in facts:
    name, value = fact.split("=", 1)
    differs = name.endswith("!")
    name = name.rstrip("!")
    text = ",".join(found[name]) if isinstance(found[name], list) else json.dumps(found[name])
    if (text == value) == differs:
        sys.exit("%s: expected %s, found %s" % (operator, fact, text))
