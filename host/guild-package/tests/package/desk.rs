//! A store, keys with rights in it, and advisories to take.

use guild_package::advisory::{
    AdvisoryBody, FloorLine, WithdrawalLine, WithdrawnAs, write_advisory,
};
use guild_package::statement::SignedStatement;
use guild_package::store::{AdvisoryOptions, AdvisoryTaken, RevokeOptions};
use guild_package::trust::{Grant, KeyStatus, Right, Scope, Withdrawal};
use guild_package::{Code, KeyId, Result};

use crate::fixture::{Bench, NOW_S, Publisher};
use crate::versions::{CPU, id};

/// A store that trusts `author` for `org.guild.kernels` with all rights, and has version 1.0.0 of a package by it.
pub struct Desk {
    pub bench: Bench,
    pub author: Publisher,
}

impl Desk {
    pub fn new() -> Self {
        let desk = Self::without_package();
        let package = desk.bench.package_by(&desk.author, CPU, "1.0.0", "");
        desk.bench.install(&package).unwrap();
        desk
    }

    pub fn without_package() -> Self {
        let bench = Bench::new();
        let author = Publisher::new(bench.path(), "author");
        let desk = Self { bench, author };
        let rights = [Right::Publish, Right::Epoch, Right::Revoke];
        desk.trust(&desk.author, &[scope("org.guild.kernels", &rights)]);
        desk
    }

    /// A new key that is trusted so.
    pub fn key(&self, name: &str, scopes: &[Scope]) -> Publisher {
        let key = Publisher::new(self.bench.path(), name);
        self.trust(&key, scopes);
        key
    }

    pub fn trust(&self, key: &Publisher, scopes: &[Scope]) {
        self.bench
            .store
            .trust_add(&key.record, &grant(scopes))
            .unwrap();
    }

    pub fn take(&self, body: &AdvisoryBody, signers: &[&Publisher]) -> Result<AdvisoryTaken> {
        self.take_with(body, signers, &AdvisoryOptions::default())
    }

    pub fn take_with(
        &self,
        body: &AdvisoryBody,
        signers: &[&Publisher],
        options: &AdvisoryOptions,
    ) -> Result<AdvisoryTaken> {
        let path = self.bench.path().join("advisory.json");
        let _ = std::fs::remove_file(&path);
        let seeds: Vec<_> = signers.iter().map(|signer| signer.seed()).collect();
        let seeds: Vec<_> = seeds.iter().collect();
        write_advisory(&path, body, &seeds).unwrap();
        self.bench.store.trust_advisory(&path, options)
    }

    /// Takes bytes that `write_advisory` wouldn't write.
    pub fn take_bytes(&self, bytes: &[u8]) -> Result<AdvisoryTaken> {
        let path = self.bench.path().join("advisory.json");
        std::fs::write(&path, bytes).unwrap();
        let options = AdvisoryOptions::default();
        self.bench.store.trust_advisory(&path, &options)
    }

    pub fn take_statement(&self, statement: &SignedStatement) -> Result<AdvisoryTaken> {
        self.take_bytes(&statement.encode("a test's").unwrap())
    }

    /// The statement is refused, and the store stays as it is.
    #[track_caller]
    pub fn refuses_statement(&self, statement: &SignedStatement, code: Code) {
        self.bench
            .store_refuses(code, || self.take_statement(statement));
    }

    /// The advisory is refused with these words, and the store stays as it is.
    #[track_caller]
    pub fn refuses(&self, body: &AdvisoryBody, signers: &[&Publisher], code: Code, words: &[&str]) {
        let refused = self
            .bench
            .store_refuses(code, || self.take(body, signers))
            .to_string();
        for word in words {
            assert!(refused.contains(word), "no `{word}` in: {refused}");
        }
    }

    /// Nothing of it is new, and the store stays as it is.
    #[track_caller]
    pub fn says_nothing_new(&self, body: &AdvisoryBody, signers: &[&Publisher]) -> AdvisoryTaken {
        let before = self.bench.listing();
        let taken = self.take(body, signers).unwrap();
        assert!(!taken.is_new(), "{taken:?}");
        assert_eq!(taken.generation, self.generation());
        assert_eq!(self.bench.listing(), before, "the store changed");
        taken
    }

    pub fn generation(&self) -> u64 {
        self.bench.store.generation().unwrap().n
    }

    pub fn status(&self, key: &Publisher) -> (KeyStatus, u64) {
        let trust = self.bench.store.trust().unwrap();
        let key = trust.key(&key.record.id).unwrap();
        (key.status, key.since_gen)
    }

    pub fn revoke(&self, key: &Publisher, withdrawal: Withdrawal) {
        let options = RevokeOptions {
            withdrawal,
            reason: None,
            dry_run: false,
        };
        let key = key.record.id;
        self.bench.store.trust_revoke(&key, &options).unwrap();
    }

    pub fn floor(&self, package: &str) -> Option<u64> {
        let generation = self.bench.store.generation().unwrap();
        generation.floors.get(&id(package)).copied()
    }
}

pub fn scope(prefix: &str, rights: &[Right]) -> Scope {
    let mut scope = Scope::publish(prefix.parse().unwrap()).unwrap();
    scope.rights = rights.to_vec();
    scope
}

pub fn revoking(prefix: &str) -> Scope {
    scope(prefix, &[Right::Revoke])
}

pub fn publishing(prefix: &str) -> Scope {
    scope(prefix, &[Right::Publish])
}

pub fn grant(scopes: &[Scope]) -> Grant {
    Grant {
        scopes: scopes.to_vec(),
        everything_understood: true,
        not_before: None,
        not_after: None,
    }
}

pub fn body(withdrawals: &[(&Publisher, WithdrawnAs)], floors: &[(&str, u64)]) -> AdvisoryBody {
    let line = |(key, status): &(&Publisher, WithdrawnAs)| withdrawal(key.record.id, *status);
    let mut withdrawals: Vec<_> = withdrawals.iter().map(line).collect();
    withdrawals.sort_by_key(|line| line.key);
    AdvisoryBody {
        schema: 1,
        withdrawals,
        floors: floors.iter().map(|(id, epoch)| floor(id, *epoch)).collect(),
        issued_at: NOW_S,
    }
}

pub fn withdrawal(key: KeyId, status: WithdrawnAs) -> WithdrawalLine {
    WithdrawalLine {
        key,
        status,
        reason: "stolen in May".parse().unwrap(),
    }
}

pub fn floor(package: &str, security_epoch: u64) -> FloorLine {
    FloorLine {
        id: id(package),
        security_epoch,
        reason: "a hole in 1.0".parse().unwrap(),
    }
}
