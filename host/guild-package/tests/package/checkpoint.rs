//! A chain that was cut or written anew shows against a note that was kept elsewhere.

use guild_package::checkpoint::SignedCheckpoint;
use guild_package::{Code, Error};

use crate::fixture::{Bench, Publisher};
use crate::unprobed::Unprobed;
use crate::versions::{BACK, CPU};

#[test]
fn a_chain_that_was_cut_or_written_anew_shows() {
    let bench = Bench::with_two_versions();
    let origin: guild_package::text::PlainText = "a machine".parse().unwrap();
    let head = std::fs::read(bench.store_path().join("HEAD")).unwrap();
    bench.store.rollback(None, BACK, &Unprobed).unwrap();
    let kept = bench.store.checkpoint(origin.clone()).unwrap();
    assert_eq!(kept.size, bench.store.generation().unwrap().n + 1);
    assert_eq!(bench.store.check_checkpoint(&kept).unwrap(), 0);
    bench.store.rollback(None, BACK, &Unprobed).unwrap();
    assert_eq!(bench.store.check_checkpoint(&kept).unwrap(), 1);
    let grown = bench.store.checkpoint(origin.clone()).unwrap();
    grown.check_follows(&kept).unwrap();

    // Back to an older state, which is a whole chain by itself.
    std::fs::write(bench.store_path().join("HEAD"), head).unwrap();
    bench.store.verify_chain().unwrap();
    let refused = bench.store.check_checkpoint(&kept).unwrap_err();
    assert!(matches!(refused, Error::Checkpoint { .. }), "{refused}");
    let cut = bench.store.checkpoint(origin.clone()).unwrap();
    assert_eq!(
        cut.check_follows(&kept).unwrap_err().code(),
        Code::StoreCorrupt
    );
    // And on from there, to the same length.
    bench.store.remove(&CPU.parse().unwrap(), None).unwrap();
    let anew = bench.store.checkpoint(origin).unwrap();
    assert_eq!(anew.size, kept.size);
    assert!(anew.check_follows(&kept).is_err());
    assert!(bench.store.check_checkpoint(&kept).is_err());
    let elsewhere = guild_package::checkpoint::Checkpoint {
        origin: "another machine".parse().unwrap(),
        ..anew.clone()
    };
    assert!(elsewhere.check_follows(&anew).is_err());
}

#[test]
fn a_checkpoint_counts_by_its_signatures() {
    let bench = Bench::with_two_versions();
    let (path, cosigned) = (bench.path().join("note"), bench.path().join("cosigned"));
    let second = Publisher::new(bench.path(), "second");
    let origin = "a machine".parse().unwrap();
    let checkpoint = bench.store.checkpoint(origin).unwrap();
    let signed = checkpoint.clone().sign(&bench.publisher.seed()).unwrap();
    signed.write(&path).unwrap();
    let first = std::slice::from_ref(&bench.publisher.record);
    let read = SignedCheckpoint::read(&path, first).unwrap();
    assert_eq!(read.checkpoint(), &checkpoint);
    let unknown = SignedCheckpoint::read(&path, std::slice::from_ref(&second.record));
    assert_eq!(unknown.unwrap_err().code(), Code::KeyUntrusted);

    let again = read.clone().cosign(&bench.publisher.seed()).unwrap_err();
    assert_eq!(again.code(), Code::Usage);
    read.cosign(&second.seed())
        .unwrap()
        .write(&cosigned)
        .unwrap();
    for key in [&bench.publisher.record, &second.record] {
        let read = SignedCheckpoint::read(&cosigned, std::slice::from_ref(key)).unwrap();
        assert_eq!(read.signers().count(), 2);
    }
    let text = std::fs::read_to_string(&cosigned).unwrap();
    let at = text.find("\"sig\":\"").unwrap() + 12;
    let mut forged = text.into_bytes();
    forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
    std::fs::write(&cosigned, forged).unwrap();
    let both = [bench.publisher.record.clone(), second.record];
    let refused = SignedCheckpoint::read(&cosigned, &both).unwrap_err();
    assert_eq!(refused.code(), Code::SignatureInvalid);
}
