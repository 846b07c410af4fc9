//! `guild kernel audit`: lists what was refused, from the audit log.

use crate::args::AuditArgs;
use crate::audit::existing;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, count};
use crate::places::Places;
use guild_package::audit::{Record, Verified};
use guild_package::text::Time;
use serde_json::{Value, json};

/// Lists the refusals, newest last; names what is wrong with the log where asked to.
pub fn run(args: &AuditArgs, places: &Places, output: Output) -> Outcome<()> {
    let Some(log) = existing(places)? else {
        output.say("Nothing was refused yet.");
        return output.object(answer(&[], &Verified::default(), args.verify));
    };
    let (records, verified) = log.read_and_verify()?;
    let left_out = args
        .count
        .map_or(0, |count| records.len().saturating_sub(count));
    let records = records.get(left_out..).unwrap_or_default();
    for record in records {
        output.data(line(record))?;
    }
    if verified.records == 0 {
        output.say("The audit log has no record.");
    }
    if verified.counted > 0 {
        output.say(format!(
            "{} more have no record of their own: they were like one of these, or too many at once.",
            verified.counted
        ));
    }
    let answer = answer(records, &verified, args.verify);
    let damaged = verified.damage();
    if !args.verify {
        if damaged > 0 {
            output.say("The audit log is damaged; --verify says where.");
        }
        return output.object(answer);
    }
    for fault in &verified.faults {
        output.say(fault.to_string());
    }
    if damaged > 0 {
        let message = format!("the audit log has {}", count(damaged, "fault"));
        let hint = "what is whole is listed, and new records go into another segment; keep a copy of \
                    the folder if you don't know why";
        return Err(Failure::new(Exit::StoreCorrupt, message)
            .hint(hint)
            .with_fields(answer));
    }
    output.say(format!(
        "The audit log is whole: {} in {}",
        count(verified.records, "record"),
        count(verified.segments, "segment")
    ));
    output.object(answer)
}

fn line(record: &Record) -> String {
    let refusal = &record.refusal;
    let subject = refusal.subject.as_ref();
    let subject = subject.map_or_else(|| "-".to_owned(), ToString::to_string);
    let more = |count: Option<u64>, what: &str| match count {
        Some(count) => format!("\t({count} {what})"),
        None => String::new(),
    };
    format!(
        "{}\t{}\t{}\t{subject}\t{}{}{}",
        Time(refusal.at),
        refusal.code,
        refusal.command.name(),
        refusal.detail,
        more(refusal.repeated, "more like it before"),
        more(refusal.dropped, "others left out before"),
    )
}

fn answer(records: &[Record], verified: &Verified, is_verified: bool) -> Value {
    let rows: Vec<Value> = records.iter().map(row).collect();
    json!({
        "refusals": rows,
        "counted": verified.counted,
        "verified": is_verified.then_some(verified),
    })
}

fn row(record: &Record) -> Value {
    let refusal = &record.refusal;
    json!({
        "at": refusal.at,
        "code": refusal.code,
        "command": refusal.command,
        "subject": refusal.subject,
        "keys": refusal.keys,
        "uid": refusal.uid,
        "detail": refusal.detail,
        "repeated": refusal.repeated.unwrap_or(0),
        "dropped": refusal.dropped.unwrap_or(0),
        "sha256": record.hash,
    })
}
