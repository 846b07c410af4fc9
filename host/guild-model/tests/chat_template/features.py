"""Writes features.json: small templates, one a feature, and what jinja2 makes of them.

Run in this folder with a Python that has jinja2: `python features.py`.
"""

import json

import reference

MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "  Hé \"you\" <b>&'1'  "},
    {
        "role": "assistant",
        "content": None,
        "reasoning": "hm",
        "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": '{"b": 1, "a": [true, null, 1.5]}'}}],
    },
    {"role": "tool", "content": "ok\n"},
]
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"z": 1, "items": {"a": "ü\u2028\x7f\x01"}}}}]
DATA = {
    "n": 7,
    "x": 1.5,
    "big": 1e16,
    "tiny": 1e-5,
    "whole": 2.0,
    "yes": True,
    "no": False,
    "nothing": None,
    "text": "aXbXc",
    "blank": "\x1c \t\u00a0x\u2003\n",
    "list": [3, 1, 2],
    "names": ["b", "A", "c"],
    "map": {"k": "v", "items": [1], "get": 2},
    "rows": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 1}],
}

CASES = {
    "trim_blocks": "a\n{% if yes %}\nb\n{% endif %}\nc\n",
    "lstrip_blocks": "a\n   {% if yes %}b{% endif %}\n  \t{# x #}\nc {% if yes %}d{% endif %}",
    "minus": "a  {%- if yes -%}  b  {%- endif -%}  c {{- n -}} d",
    "plus": "a\n  {%+ if yes +%}\nb{% endif %}",
    "trailing_newline": "x\n\n",
    "carriage_returns": "a\r\nb{% if yes %}\r\nc{% endif %}\r\n",
    "comment": "a{# {{ nope }} #}b",
    "raw": "{% raw %}{{ x }}{% set a.b = 1 %}{% endraw %}{{ n }}",
    "printing": "{{ yes }} {{ no }} {{ nothing }} {{ n }} {{ x }} {{ big }} {{ tiny }} {{ whole }} {{ missing }}",
    "printing_containers": "{{ list }} {{ names }} {{ map }} {{ [] }} {{ {} }} {{ (1, 'a') }} {{ ['it\\'s', none, 1.0] }}",
    "string_filter": "{{ yes|string }} {{ nothing|string }} {{ list|string }} {{ n|string ~ 'a' }}",
    "concatenation": "{{ 'a' ~ 1 ~ none ~ missing ~ true }} {{ 'a' + 'b' }} {{ [1] + [2] }}",
    "arithmetic": "{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ 2 ** 3 }} {{ 7 / 2 }} {{ 4 / 2 }} {{ 'ab' * 2 }}",
    "comparison": "{{ 1 < 2 }} {{ 'a' == 'a' }} {{ 1 == 1.0 }} {{ not yes }} {{ yes and 'x' }} {{ no or 'y' }} {{ 2 in list }} {{ 'k' in map }} {{ 'X' in text }} {{ 9 not in list }}",
    "conditional": "{{ 'a' if yes else 'b' }} {{ 'a' if no }}|{{ ('a' if no) is defined }}",
    "slices": "{{ list[1:] }} {{ list[:-1] }} {{ list[::-1] }} {{ list[-1] }} {{ text[1:3] }} {{ text[::-1] }} {{ text[0] }} {{ text[-2:] }} {{ messages[1:]|length }}",
    "loop": "{% for i in list %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{{ loop.cycle('a','b') }}{{ loop.previtem }}{{ loop.nextitem }};{% else %}none{% endfor %}",
    "loop_filter_else": "{% for i in list if i > 1 %}{{ loop.index }}:{{ i }} {% endfor %}{% for i in [] %}{% else %}empty{% endfor %}",
    "loop_controls": "{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "loop_unpack": "{% for k, v in map.items() %}{{ k }}={{ v }};{% endfor %}{% for k, v in map|items %}{{ k }}{% endfor %}{% for k in map %}{{ k }}{% endfor %}",
    "loop_scope": "{% set a = 1 %}{% for i in list %}{{ a }}{% set a = i %}{{ a }}{% endfor %}{{ a }}",
    "loop_recursive": "{% for i in [[1, [2]], [3]] recursive %}{% if i is sequence %}({{ loop(i) }}){% else %}{{ i }}{% endif %}{% endfor %}",
    "namespace": "{% set ns = namespace(a=1, b=[]) %}{% for i in list %}{% set ns.a = ns.a + i %}{% set ns.b = ns.b + [i] %}{% endfor %}{{ ns.a }} {{ ns.b }}",
    "set_block": "{% set a %}x{{ n }}\n{% endset %}[{{ a }}]{% set b | upper %}q{% endset %}{{ b }}",
    "set_tuple": "{% set a, b = 1, 'z' %}{{ a }}{{ b }}",
    "macro": "{% macro m(a, b='d', c=none) %}<{{ a }}{{ b }}{{ c }}>{% endmacro %}{{ m(1) }}{{ m(1, c=2) }}{{ m(a='q', b=3) }}",
    "macro_caller": "{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}in{% endcall %}",
    "macro_recursive": "{% macro m(n) %}{{ n }}{% if n > 0 %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(3) }}",
    "with": "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a }}",
    "filter_block": "{% filter upper %}abc{{ text }}{% endfilter %}",
    "generation": "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}A{{ m.tool_calls|length }}{% set z = 1 %}{% endgeneration %}{{ z }}{% endif %}{% endfor %}",
    "tests_of_type": "{% for v in [1, 1.5, true, 'a', [1], {}, none, missing, range(2)] %}{{ v is string }}{{ v is number }}{{ v is integer }}{{ v is float }}{{ v is boolean }}{{ v is mapping }}{{ v is iterable }}{{ v is none }}{{ v is defined }}{{ v is undefined }};{% endfor %}",
    "tests_of_sequence": "{{ 'a' is sequence }}{{ [1] is sequence }}{{ {} is sequence }}{{ 1 is sequence }}{{ none is sequence }}{{ (1,) is sequence }}",
    "tests_of_value": "{{ 1 is odd }}{{ 4 is divisibleby 2 }}{{ 'a' is in ['a'] }}{{ 1 is eq 1 }}{{ true is true }}{{ 1 is sameas 1 }}{{ 'A' is upper }}{{ raise_exception is callable }}{{ n is callable }}",
    "string_methods": "{{ text.split('X') }} {{ ' a  b '.split() }} {{ 'a,b,c'.split(',', 1) }} {{ text.upper() }} {{ text.startswith('a') }} {{ text.endswith(('b', 'c')) }} {{ text.replace('X', '-') }} {{ text.replace('X', '-', 1) }} {{ text.find('X') }} {{ text.rfind('X') }} {{ text.count('X') }} {{ '-'.join(['a', 'b']) }} {{ 'ab'.title() }} {{ 'aB'.capitalize() }} {{ 'aB'.lower() }}",
    "string_methods_more": "{{ text.removeprefix('aX') }} {{ text.removesuffix('Xc') }} {{ text.partition('X') }} {{ text.rpartition('X') }} {{ text.partition('q') }} {{ text.rsplit('X', 1) }} {{ text.index('b') }} {{ 'a\\nb\\n'.splitlines() }} {{ '12'.isdigit() }} {{ 'a'.isalpha() }} {{ '{} {}'.format(1, 'b') }}",
    "percent_format": "{{ '%s-%d' % ('a', 3) }}",
    "format_filter": "{{ '%s-%d'|format('a', 3) }}",
    "strip": "[{{ blank.strip() }}] [{{ blank|trim }}] [{{ 'xxaxx'.strip('x') }}] [{{ '\\n a \\n'.lstrip('\\n') }}] [{{ ' a '.rstrip() }}] [{{ 'xax'|trim('x') }}]",
    "map_methods": "{{ map.get('k') }} {{ map.get('q') }} {{ map.get('q', 'd') }} {{ map.keys()|list }} {{ map.values()|list }} {{ map.items()|list }} {{ map['items'] }} {{ map['get'] }}",
    "filters": "{{ list|sort }} {{ names|sort }} {{ list|first }} {{ list|last }} {{ list|length }} {{ list|join('-') }} {{ list|sum }} {{ list|max }} {{ list|min }} {{ list|reverse|list }} {{ missing|default('d') }} {{ ''|default('d', true) }} {{ ' a '|trim }} {{ 'a b'|title }} {{ 'abc'|upper }} {{ 'ab'|capitalize }} {{ 'a-b'|replace('-', '+') }} {{ '12'|int }} {{ 'x'|int(5) }} {{ '1.5'|float }} {{ 2.567|round(1) }} {{ -3|abs }} {{ [1, 1, 2]|unique|list }} {{ 'abc'|list }} {{ map|length }}",
    "filters_of_rows": "{{ rows|map(attribute='a')|list }} {{ rows|selectattr('a', 'equalto', 1)|list|length }} {{ rows|rejectattr('b', 'defined')|list|length }} {{ rows|selectattr('b')|map(attribute='b')|join(',') }} {{ rows|map(attribute='b', default='?')|list }} {{ list|map('string')|join }} {{ list|select('odd')|list }} {{ list|reject('gt', 1)|list }} {% for g in rows|groupby('a') %}{{ g.grouper }}:{{ g.list|length }} {% endfor %}{{ map|dictsort }} {{ list|batch(2)|list }}",
    "indent": "{{ 'a\\nb\\n\\nc'|indent(2) }}|{{ 'a\\nb'|indent(4, true) }}|{{ 'a\\nb'|indent(width=1, first=true) }}",
    "escape": "{{ '<&>'|e }} {{ '<&>'|safe }} {{ '<&>' }}",
    "tojson": "{{ tools|tojson }} {{ messages[1].content|tojson }} {{ [1, 1.0, 1e16, 1e-7, true, none, 'é']|tojson }} {{ {}|tojson }} {{ []|tojson }} {{ {1: 2, none: 3, true: 4}|tojson }}",
    "tojson_indent": "{{ tools|tojson(indent=2) }}\n{{ [[], {}, [1]]|tojson(indent=4) }}\n{{ [1]|tojson(indent=0) }}\n{{ [1]|tojson(indent='\\t') }}",
    "tojson_options": "{{ {'b': 1, 'a': [1, 2]}|tojson(sort_keys=true) }} {{ {'b': 1, 'a': [1, 2]}|tojson(separators=(',', ':')) }} {{ 'é😀\u2028'|tojson(ensure_ascii=true) }} {{ [1, [2]]|tojson(indent=1, separators=(';', '=')) }}",
    "tojson_of_missing": "{{ missing|tojson }}",
    "tool_arguments": "{{ messages[2].tool_calls[0].function.arguments|tojson }} {{ messages[2].content is defined }} {{ messages[2].reasoning_content }} {{ messages[2].thinking }}",
    "raise": "a\n{% if yes %}{{ raise_exception('Roles must alternate: ' ~ n) }}{% endif %}",
    "time": "{{ strftime_now('%d %b %Y') }} {{ strftime_now('%Y-%m-%d %H:%M:%S %A %B %j %y %I %p %%') }}",
    "undefined_attribute": "{{ map.q }}|{{ messages[0].tool_calls is defined }}|{% if messages[0].tool_calls %}a{% endif %}|{% for i in missing %}b{% endfor %}|{{ missing|length }}|{{ missing|list }}",
    "undefined_chain": "{{ missing.a }}",
    "undefined_sum": "{{ missing + 'a' }}",
    "undefined_call": "{{ missing() }}",
    "undefined_method": "{{ missing.strip() }}",
    "index_out_of_range": "{{ list[9] }}|{{ list[9] is defined }}|{{ messages[9].role is defined }}",
    "type_error": "{{ 1 + 'a' }}",
    "string_plus_none": "{{ 'a' + none }}",
    "append_refused": "{% set l = [] %}{% set _ = l.append(1) %}{{ l }}",
    "update_refused": "{% set l = {} %}{% set _ = l.update({'a': 1}) %}{{ l }}",
    "syntax_error": "a\n{% if %}",
    "unclosed": "{% if yes %}a",
    "unknown_filter": "{{ n|no_such_filter }}",
    "unknown_tag": "{% no_such_tag %}",
    "range_too_large": "{{ range(10000000)|length }}",
    "iterate_number": "{% for i in n %}{{ i }}{% endfor %}",
    "kwargs": "{{ enable_thinking is defined and enable_thinking is false }} {{ add_generation_prompt }} {{ tools is none }} {{ documents is none }} {{ bos_token }} {{ eos_token }}",
    "unicode": "{{ 'žluť'|upper }} {{ '日本'|length }} {{ '日本語'[1:] }} {{ 'ß'|upper }} 😀",
    "line_statement_like": "# for x in y\n## c\n{{ n }}",
    "dict_literal": "{{ {'b': 1, 'a': 2} }} {{ dict(a=1, b=2) }} {{ {'a': {'b': {'c': [1]}}}.a.b.c[0] }}",
    "unpack_nested": "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "nested_quotes": "{{ \"a'b\" }} {{ 'a\"b' }} {{ ['a\"b', \"a'b\"] }} {{ 'a\\tb\\\\' }}",
    "in_chain": "{{ 1 < n < 10 }} {{ n is not none and n > 3 }} {{ not (n in [1]) }}",
    "filter_precedence": "{{ -1|abs }} {{ 'a' ~ 'b'|upper }} {{ (1, 2)|length }} {{ n * 2|int }}",
    "inline_if_nested": "{{ 'a' if no else 'b' if no else 'c' }}",
    "bool_arithmetic": "{{ true + 1 }} {{ [1, 2] == [1, 2] }} {{ {'a': 1} == {'a': 1} }} {{ none == false }}",
    "content_parts": "{% for m in [{'content': [{'type': 'text', 'text': 'x'}, {'type': 'image'}]}] %}{% for p in m.content %}{{ p.text if p.type == 'text' else '<' ~ p['type'] ~ '>' }}{% endfor %}{% endfor %}",
    "do_not_leak": "{% macro m() %}{{ inner is defined }}{% set inner = 1 %}{% endmacro %}{{ m() }}{{ m() }}{{ inner is defined }}",
    "macro_sees_globals": "{% set g = 5 %}{% macro m() %}{{ g }}{{ n }}{% endmacro %}{{ m() }}",
    "varargs": "{% macro m() %}{{ varargs|length }}{{ kwargs|length }}{% endmacro %}{{ m(1, 2, a=3) }}",
}


def main():
    special = {"bos_token": "<s>", "eos_token": "</s>"}
    case = {"messages": MESSAGES, "tools": TOOLS, "variables": DATA}
    with open("features.json", "w", encoding="ascii") as file:
        input_text = json.dumps({"special": special, **case})
        cases = []
        for name, template in CASES.items():
            answer = reference.render(template, json.loads(json.dumps(case)), special)
            cases.append({"name": name, "template": template, **answer})
        made = {"made_with": f"jinja2 {reference.jinja2.__version__}", "input": json.loads(input_text), "cases": cases}
        json.dump(made, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
