//! Templates that want to hang, eat memory or crash: each ends with an error or a text, soon, and without a panic.

use crate::render_source;
use guild_model::ChatTemplateError;
use guild_model::chat_template::limits::{FUEL, FUEL_BYTES, TAG_BYTES_MAX, TEMPLATE_BYTES_MAX};
use serde_json::{Map, Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

/// The longest that one may take, in a build without optimisation on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(20);

fn input() -> Value {
    json!({ "messages": [{ "role": "user", "content": "x".repeat(1000) }] })
}

fn run(source: &str) -> Result<String, ChatTemplateError> {
    let started = Instant::now();
    let result = render_source(source, &input(), &Map::new());
    let took = started.elapsed();
    let shown: String = source.chars().take(100).collect();
    assert!(took < TIME_MAX, "{shown} took {took:?}");
    if let Err(error) = &result {
        assert!(
            !matches!(error, ChatTemplateError::Internal { .. }),
            "{shown}: {error}"
        );
        // No error may hold what the template built.
        assert!(error.to_string().len() < 64 << 10, "{shown}");
    }
    result
}

#[test]
fn endless_work_meets_a_limit() {
    let loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}";
    let ends = "{% endfor %}{% endfor %}{% endfor %}";
    for source in [
        format!("{loops}{ends}"),
        format!("{loops}x{ends}"),
        format!("{loops}{{% set q = messages|tojson %}}{ends}"),
        format!("{loops}{{% set q = messages[0].content.upper().split('X')|join('y') %}}{ends}"),
        format!("{loops}{{% set q = 'a{{}}'.format(b) %}}{ends}"),
        format!("{loops}{{% set q = [1, 2, 3]|sort|reverse|list == [3] %}}{ends}"),
        format!("{loops}{{{{ strftime_now('%Y') }}}}{ends}"),
    ] {
        let error = run(&source).unwrap_err();
        assert!(
            matches!(
                error,
                ChatTemplateError::Limit { what: "work", .. } | ChatTemplateError::Slow { .. }
            ),
            "{error:?}"
        );
    }
}

#[test]
fn huge_values_meet_a_limit_before_they_exist() {
    for source in [
        "{{ 'x' * 9999999999 }}",
        "{{ [1] * 9999999999 }}",
        "{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}",
        "{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = ns.s.replace('x', 'xx') %}{% endfor %}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s|tojson }}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s == ns.s }}",
        "{{ range(99999999) }}",
        "{{ 'x'|indent(9999999999) }}",
        "{{ '%9999999999d'|format(1) }}",
        "{{ '{:>9999999999}'.format(1) }}",
        "{{ '%.9999999999f' % 1.5 }}",
        "{{ [[[1]]]|tojson(indent=9999999999) }}",
        "{{ [1]|batch(9999999999, 'x')|list }}",
        "{{ [1]|slice(9999999999)|list }}",
        "{{ 2 ** 99999999999 }}",
        "{{ 10 ** 9999 }}",
        "{{ messages[0].content.replace('', 'y' * 100000) }}",
        "{{ strftime_now('%9999999999Y') }}",
        "{{ strftime_now('%255Y' * 100) }}",
        "{% for i in range(99999) %}{{ messages[0].content * 1000 }}{% endfor %}",
    ] {
        assert!(run(source).is_err(), "{source}");
    }
}

/// The longest that a processor may be busy with one template of the next test.
const SOON: Duration = Duration::from_secs(2);
/// The most memory that one may take, as `limits.rs` says: four times what its work pays for, and the program itself.
const PEAK_KIB_MAX: u64 = (4 * FUEL * FUEL_BYTES + (64 << 20)) >> 10;
/// How the next test hands a template to the process that renders it.
const TEMPLATE_VARIABLE: &str = "GUILD_TEST_HOSTILE_TEMPLATE";

#[test]
fn much_out_of_little_ends_soon_and_in_bounded_memory() {
    for source in [
        "{{ ('a' * 30000000).strip('b' * 3000000 ~ 'a') }}",
        "{{ ('a' * 30000000)|trim('b' * 3000000 ~ 'a') }}",
        "{{ ('a' * 60000000).split('a') }}",
        "{{ ('a' * 60000000).split('a', 50000000) }}",
        "{{ ('a ' * 30000000).split() }}",
        "{{ ('a' * 60000000).rsplit('a') }}",
        "{{ ('a' * 60000000).rsplit('a', 50000000) }}",
        "{{ ('\\n' * 60000000).splitlines() }}",
        "{{ ('\\n' * 60000000).splitlines(true) }}",
        "{{ ('a' * 60000000)|list }}",
        "{{ ''.join(['x' * 30000000] * 1000) }}",
        "{{ (['x' * 30000000] * 1000)|join }}",
        "{{ ([{'a': 'x' * 30000000}] * 1000)|join(attribute='a') }}",
        "{{ ([['x' * 30000000] * 1000])|join(',') }}",
        "{{ (['x' * 30000000] * 1000)|string }}",
        "{{ (['x' * 30000000] * 1000)|trim }}",
        "{{ raise_exception(['x' * 30000000] * 1000) }}",
        "{{ (['x' * 1000000] * 1000)|sum(start='') }}",
        "{{ ([[1]] * 8000000)|sum(start=[]) }}",
        "{{ ('{0}' * 100000).format('x' * 1000000) }}",
        "{{ '{0}'.format(['x' * 30000000] * 1000) }}",
        "{{ ('{0:>9999}' * 1000000).format(1) }}",
        "{{ ('%(a)s' * 100000)|format(a='x' * 1000000) }}",
        "{{ '%s'|format(['x' * 30000000] * 1000) }}",
        "{{ ([1] * 8000000)|batch(1) }}",
        "{{ ([1] * 8000000)|slice(4000000) }}",
        "{{ ((['x' * 1000000] * 100000)|list).count('y' * 1000000) }}",
        "{{ ((['x' * 1000000] * 100000)|list).index('y' * 1000000) }}",
        "{{ (['x' * 1000000] * 100000)|sort }}",
        "{{ (['x' * 1000000] * 100000)|unique }}",
        "{{ (['x' * 1000000] * 100000)|max }}",
        "{{ range(99999)|zip(range(99999), range(99999), range(99999))|list|length }}",
        "{% set b = 'b' * 30000000 %}{% for i in range(99999) %}{% set q = 'x'.find(b) %}{% endfor %}",
        "{{ ('a' * 30000000).replace('a', 'bbbbbbbbbb') }}",
        "{{ ('a' * 30000000)|replace('a', 'bbbbbbbbbb') }}",
        "{{ ('\\n' * 30000000)|indent(1000, blank=true) }}",
        "{{ ('\\x01' * 60000000)|tojson(ensure_ascii=true) }}",
    ] {
        renders_in_bounds(source);
    }
    let keys = "{% set k = 'x' * 60000000 %}{{ ".to_owned() + &nested("{k:", "1", "} ", 100);
    renders_in_bounds(&format!("{keys}|tojson }}}}"));
}

/// Renders a template in a process of its own, where it must fail in time and within the memory.
fn renders_in_bounds(source: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "hostile::one_of_them",
            "--ignored",
            "--nocapture",
        ])
        .env(TEMPLATE_VARIABLE, source)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{source}\n{text}\n{errors}");
    let figure = |name: &str| -> u64 {
        let after = text.split_once(name).map_or("", |(_, after)| after);
        let digits = after.split_whitespace().next().unwrap_or_default();
        digits.parse().unwrap_or_else(|_| panic!("{name} {text}"))
    };
    let figures = text.lines().find(|line| line.contains("took_ms="));
    println!("{source}\n  {}", figures.unwrap_or_default());
    let took = Duration::from_millis(figure("took_ms="));
    assert!(took < SOON, "{source} took {took:?}");
    // Linux alone says what a process took at most.
    if cfg!(target_os = "linux") {
        let peak_kib = figure("peak_kib=");
        assert!(peak_kib < PEAK_KIB_MAX, "{source} took {peak_kib} KiB");
    }
}

/// How long this process has kept processors busy. Linux counts it in hundredths of a second; others don't say.
fn processor_ms() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut times = after_name.split_whitespace().skip(11);
    let user: u64 = times.next()?.parse().ok()?;
    let system: u64 = times.next()?.parse().ok()?;
    Some((user + system) * 10)
}

#[test]
#[ignore = "run by the test before it, in a process of its own"]
fn one_of_them() {
    let source = std::env::var(TEMPLATE_VARIABLE).expect("the template to render");
    let error = run(&source).unwrap_err();
    let took_ms = processor_ms().unwrap_or_default();
    assert!(!matches!(error, ChatTemplateError::Slow { .. }), "{error}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.split_whitespace().next());
    let peak_kib = peak.unwrap_or_default();
    println!("took_ms={took_ms} peak_kib={peak_kib} {error}");
}

#[test]
fn too_many_characters_to_strip_are_refused_as_such() {
    let error = run("{{ 'a'.strip('b' * 5000) }}").unwrap_err();
    assert!(
        matches!(
            error,
            ChatTemplateError::Limit {
                what: "characters to strip",
                line: 1
            }
        ),
        "{error:?}"
    );
    assert_eq!(run("{{ 'abcda'.strip('b' * 4000 ~ 'a') }}").unwrap(), "cd");
}

#[test]
fn recursion_meets_a_limit() {
    for source in [
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
        "{% macro m(x) %}{{ m([x]) }}{% endmacro %}{{ m(1) }}",
        "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}",
        "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}",
        "{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns ~ '' }}",
        "{% set ns = namespace() %}{% set ns.a = {'b': ns}.items() %}{{ ns|string }}",
        "{% set a = namespace() %}{% set b = namespace() %}{% set a.x = b %}{% set b.x = a %}{{ a == b }}",
        "{%- set ns = namespace(x=[]) %}{% for i in range(99999) %}{%- set ns.x = [ns.x] -%}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace(x={}) %}{% for i in range(99999) %}{% set ns.x, ns.y = {'a': ns.x}, 1 %}{% endfor %}",
    ] {
        assert!(run(source).is_err(), "{source}");
    }
}

/// `open` and `close` around `inner`, as often as fits.
fn nested(open: &str, inner: &str, close: &str, bytes: usize) -> String {
    let times = (bytes - inner.len()) / (open.len() + close.len());
    format!("{}{inner}{}", open.repeat(times), close.repeat(times))
}

#[test]
fn deep_sources_end_without_a_crash() {
    let source = TEMPLATE_BYTES_MAX - 100;
    let tag = TAG_BYTES_MAX - 100;
    let expression = |open: &str, inner: &str, close: &str| {
        format!("{{{{ {} }}}}", nested(open, inner, close, tag))
    };
    for source in [
        nested("{% if true %}", "x", "{% endif %}", source),
        nested("{% for i in [1] %}", "x", "{% endfor %}", source),
        nested("{% if true %}", "x", "", source),
        nested("{% set x = [x] %}", "", "", source),
        nested("{% set x = [x] %}", "{{ x }}{{ x|tojson }}", "", source),
        nested("{% set x = {'a': x} %}", "{{ x == [x] }}", "", source),
        nested("{{", "", "", source),
        nested("{%", "", "", source),
        nested("{#", "", "", source),
        nested("{% raw %}", "", "", source),
        nested("\n", "{{", "", source),
        expression("(", "1", ")"),
        expression("[", "1", "]"),
        expression("{'a':", "1", "}"),
        expression("not ", "1", ""),
        expression("-", "1", ""),
        expression("", "1", "+1"),
        expression("", "a", "+1"),
        expression("", "'a'", "~'a'"),
        expression("", "1", "|abs"),
        expression("", "a", ".a"),
        expression("", "a", "[0]"),
        expression("", "a", "()"),
        expression("", "1", " if 1 else 1"),
        expression("", "a", " and a"),
        expression("", "1", " is odd"),
        expression("", "'", "a"),
        expression("", "a", "~'a'")
            .repeat(4)
            .get(..source)
            .unwrap_or_default()
            .to_owned(),
    ] {
        // Some are fine, most are refused; none may end the process.
        let _ = run(&source);
    }
}

#[test]
fn what_is_too_long_is_refused_at_once() {
    let error = run(&" ".repeat(TEMPLATE_BYTES_MAX + 1)).unwrap_err();
    assert!(matches!(error, ChatTemplateError::TooLong { .. }));
    assert_eq!(
        run(&" ".repeat(TEMPLATE_BYTES_MAX)).unwrap().len(),
        TEMPLATE_BYTES_MAX
    );
}

#[test]
fn nothing_outside_is_within_reach() {
    for source in [
        "{% include 'chat' %}",
        "{% import 'chat' as c %}",
        "{% extends 'chat' %}",
        "{{ ''.__class__.__mro__ }}",
        "{{ self._TemplateReference__context }}",
        "{{ debug() }}",
        "{{ lipsum() }}",
        "{{ messages.append(1) }}",
    ] {
        assert!(run(source).is_err(), "{source}");
    }
}

#[test]
fn messages_that_are_none_are_refused_with_their_place() {
    let cases = [
        (json!(["text"]), 0),
        (
            json!([{ "role": "user", "content": "a" }, { "content": "b" }]),
            1,
        ),
        (json!([{ "role": 1, "content": "a" }]), 0),
        (json!([{ "role": "user", "content": 5 }]), 0),
        (
            json!([{ "role": "user", "content": "" }, { "role": "user" }]),
            1,
        ),
        (json!([{ "role": "user", "text": "a" }]), 0),
    ];
    for (messages, place) in cases {
        let case = json!({ "messages": messages });
        let error = render_source("x", &case, &Map::new()).unwrap_err();
        assert!(
            matches!(error, ChatTemplateError::Message { index, .. } if index == place),
            "{error:?}"
        );
    }
}

#[test]
fn a_message_may_have_something_else_than_content() {
    for key in ["tool_calls", "tool_responses", "reasoning", "thinking"] {
        let case = json!({ "messages": [{ "role": "assistant", key: [] }] });
        assert_eq!(render_source("x", &case, &Map::new()).unwrap(), "x");
    }
    let null = json!({ "messages": [{ "role": "assistant", "content": null }] });
    assert_eq!(render_source("x", &null, &Map::new()).unwrap(), "x");
}

#[test]
fn the_variants_that_there_are_are_named() {
    let refusal = |variants: &str| {
        let error = ChatTemplateError::UnknownVariant {
            name: "nope".to_owned(),
            variants: variants.to_owned(),
        };
        error.to_string()
    };
    assert!(refusal("").ends_with("it has only the default one; leave --template-variant out"));
    assert!(refusal("rag, tools").ends_with("it has: rag, tools"));
}

/// Pieces that make templates of every kind when put in a row.
const PIECES: [&str; 58] = [
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "{%-",
    "-%}",
    "{{-",
    "-}}",
    " ",
    "\n",
    "'",
    "\"",
    "\\",
    "x",
    "1",
    "9999999",
    "-1",
    "0.5",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    ":",
    ".",
    "|",
    "~",
    "+",
    "*",
    "**",
    "/",
    "//",
    "==",
    " in ",
    " is ",
    " not ",
    " and ",
    " if ",
    " else ",
    "messages",
    "messages[0].content",
    "range(3)",
    "ns",
    "set ",
    "set ns.a = ",
    "for x in ",
    "endfor",
    "if x",
    "endif",
    "macro m()",
    "endmacro",
    "tojson(indent=1)",
    "namespace()",
    "content.split(",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(512))]

    #[test]
    fn no_row_of_pieces_panics(row in proptest::collection::vec(0..PIECES.len(), 0..40), inside in proptest::bool::ANY) {
        let text: String = row.iter().map(|index| PIECES[*index]).collect();
        let source = if inside {
            format!("{{% set ns = namespace() %}}{{{{ {text} }}}}")
        } else {
            text
        };
        let _ = run(&source);
    }
}
