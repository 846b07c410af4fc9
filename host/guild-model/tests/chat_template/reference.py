"""Renders chat templates with Python's jinja2 under the settings of Hugging Face transformers.

Reads from standard input {"template": text, "special": {...}, "cases": [{"messages", "tools", "variables",
"add_generation_prompt"}, ...]} and writes a list of {"text": ...} or {"error": ...}. Needs jinja2 3.1.6 or later.
"""

import datetime
import json
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox

NOW = datetime.datetime(2024, 7, 26, 9, 5, 3)


class GenerationBlock(jinja2.ext.Extension):
    """Accepts the block that marks the assistant's text, and renders what is inside."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("render"), [], [], body).set_lineno(line)

    def render(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, jinja2.ext.loopcontrols]
    )
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = NOW.strftime
    return made


def normalise(message):
    names = ("reasoning_content", "thinking", "reasoning")
    reasoning = next((message[name] for name in names if message.get(name) is not None), None)
    message = {key: value for key, value in message.items() if value is not None}
    if reasoning is not None:
        message = {"thinking": reasoning, **message, "reasoning_content": reasoning}
    for call in message.get("tool_calls", []):
        function = call.get("function", call)
        if isinstance(function.get("arguments"), str):
            try:
                arguments = json.loads(function["arguments"])
            except ValueError:
                continue
            if isinstance(arguments, dict):
                function["arguments"] = arguments
    return message


def render(template, case, special):
    variables = dict(special)
    variables["messages"] = [normalise(message) for message in case["messages"]]
    variables["tools"] = case.get("tools")
    variables["documents"] = None
    variables["add_generation_prompt"] = case.get("add_generation_prompt", True)
    variables.update(case.get("variables", {}))
    try:
        return {"text": environment().from_string(template).render(variables)}
    except Exception as error:  # whatever jinja2 or Python's own operations raise
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    request = json.load(sys.stdin)
    answers = [
        render(request["template"], case, request.get("special", {})) for case in request["cases"]
    ]
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
