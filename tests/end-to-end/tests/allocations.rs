//! The token loop allocates nothing: `malloc` and its kin, `mmap` and `dlsym` are taken over by this
//! executable, so that calls from the host and from loaded plugins are seen alike.

use guild_cli::output::Output;
use guild_cli::places::Places;
use guild_cli::wiring::model::{OpenModel, Size};
use guild_end_to_end::{
    CPU, FirstParty, LLAMA, LLAMA_FACTORS, QWEN, REFERENCE, SMALL_BF16, Site, TINY_Q4_K_M,
    model_args,
};
use guild_engine::{LogitBias, Sampler, Sampling};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static COUNTING: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicU64 = AtomicU64::new(0);

fn count() {
    if COUNTING.load(Ordering::Relaxed) {
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
}

unsafe extern "C" {
    fn __libc_malloc(bytes: usize) -> *mut c_void;
    fn __libc_calloc(items: usize, bytes: usize) -> *mut c_void;
    fn __libc_realloc(ptr: *mut c_void, bytes: usize) -> *mut c_void;
    fn __libc_memalign(align: usize, bytes: usize) -> *mut c_void;
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

/// Counts, then allocates.
///
/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(bytes: usize) -> *mut c_void {
    count();
    // SAFETY: the caller keeps `malloc`'s contract.
    unsafe { __libc_malloc(bytes) }
}

/// Counts, then allocates.
///
/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(items: usize, bytes: usize) -> *mut c_void {
    count();
    // SAFETY: the caller keeps `calloc`'s contract.
    unsafe { __libc_calloc(items, bytes) }
}

/// Counts, then allocates.
///
/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(ptr: *mut c_void, bytes: usize) -> *mut c_void {
    count();
    // SAFETY: the caller keeps `realloc`'s contract.
    unsafe { __libc_realloc(ptr, bytes) }
}

/// Counts, then allocates.
///
/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(align: usize, bytes: usize) -> *mut c_void {
    count();
    // SAFETY: the caller keeps `aligned_alloc`'s contract.
    unsafe { __libc_memalign(align, bytes) }
}

/// Counts, then allocates.
///
/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(
    out: *mut *mut c_void,
    align: usize,
    bytes: usize,
) -> c_int {
    count();
    // SAFETY: the caller keeps `posix_memalign`'s contract; `out` is writable.
    unsafe {
        let ptr = __libc_memalign(align, bytes);
        if ptr.is_null() {
            return libc::ENOMEM;
        }
        *out = ptr;
    }
    0
}

/// Counts, then maps.
///
/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    count();
    // SAFETY: the caller keeps `mmap`'s contract, which is the system call's.
    unsafe {
        libc::syscall(
            libc::SYS_mmap,
            address,
            bytes,
            protection,
            flags,
            fd,
            offset,
        ) as *mut c_void
    }
}

/// Counts, then maps.
///
/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the same function on this platform.
    unsafe { mmap(address, bytes, protection, flags, fd, offset) }
}

/// Counts, then looks up.
///
/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    count();
    type Lookup = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
    // SAFETY: `dlvsym` finds the C library's own `dlsym`, whose type this is; the caller keeps its
    // contract.
    unsafe {
        let real = dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), c"GLIBC_2.34".as_ptr());
        let real: Option<Lookup> = std::mem::transmute(real);
        real.map_or(std::ptr::null_mut(), |real| real(handle, name))
    }
}

/// Every stage at work.
fn full_chain() -> Sampling {
    Sampling {
        temperature: 0.7,
        top_k: 100,
        typical: 0.9,
        top_p: 0.95,
        min_p: 0.01,
        min_keep: 2,
        repeat_penalty: 1.1,
        presence_penalty: 0.1,
        frequency_penalty: 0.1,
        repeat_last_n: 4,
        logit_bias: vec![LogitBias {
            token: 3,
            bias: f32::NEG_INFINITY,
        }],
        seed: 1,
    }
}

/// Without top-k, so that the stages see the whole vocabulary.
fn without_top_k() -> Sampling {
    Sampling {
        top_k: 0,
        ..full_chain()
    }
}

/// A temperature alone.
fn temperature_alone() -> Sampling {
    Sampling {
        temperature: 0.7,
        seed: 1,
        ..Sampling::default()
    }
}

/// Calls that eight tokens, each chosen in every one of several ways, make after the first one.
fn calls_in_token_loop(packages: &[FirstParty], model: &str, allow_reference: bool) -> u64 {
    let site = Site::with(packages);
    let args = model_args(model, 2, allow_reference);
    let output = Output::new(true);
    let opened = OpenModel::open(&args, 300, &Places::user(site.guild.data_dir()), output).unwrap();
    let mut engine = opened
        .engine(Size {
            rows: 16,
            outputs: 1,
            context: 300,
            sampling: None,
        })
        .unwrap();
    let vocabulary = engine.vocabulary();
    let ways = [
        full_chain(),
        without_top_k(),
        temperature_alone(),
        Sampling::default(),
    ];
    let mut samplers = ways.map(|way| Sampler::new(way, vocabulary).unwrap());
    let mut choose = |logits: &[f32]| {
        let chosen = samplers
            .iter_mut()
            .map(|sampler| sampler.sample(logits).unwrap());
        chosen.fold(0, |_, token| token)
    };
    let mut session = engine.start().unwrap();
    let logits = engine.prefill(&mut session, &[5, 6, 7, 8], |_| {}).unwrap();
    let mut token = choose(logits);
    token = choose(engine.decode(&mut session, token).unwrap());

    CALLS.store(0, Ordering::SeqCst);
    COUNTING.store(true, Ordering::SeqCst);
    for _ in 0..8 {
        token = choose(engine.decode(&mut session, token).unwrap());
    }
    COUNTING.store(false, Ordering::SeqCst);
    engine.release(session);
    CALLS.load(Ordering::SeqCst)
}

/// One test, since the counter belongs to the process.
#[test]
fn the_token_loop_makes_no_call() {
    // The oracle allocates inside the plugin: seeing that shows that the counter sees plugins.
    assert!(calls_in_token_loop(&[REFERENCE, QWEN], SMALL_BF16, true) > 0);
    assert_eq!(calls_in_token_loop(&[CPU, QWEN], SMALL_BF16, false), 0);
    assert_eq!(calls_in_token_loop(&[CPU, QWEN], TINY_Q4_K_M, false), 0);
    assert_eq!(calls_in_token_loop(&[CPU, LLAMA], LLAMA_FACTORS, false), 0);
}
