//! bindgen's reading of the headers equals the Rust types.

/// Size, alignment and every field's offset.
macro_rules! same_struct {
    ($module:ident, $name:ident, $($field:ident),+) => {{
        use std::mem::{align_of, offset_of, size_of};
        type Rust = $module::$name;
        type C = bindings::$name;
        let name = stringify!($name);
        assert_eq!(size_of::<Rust>(), size_of::<C>(), "size of {name}");
        assert_eq!(align_of::<Rust>(), align_of::<C>(), "alignment of {name}");
        $(assert_eq!(
            offset_of!(Rust, $field),
            offset_of!(C, $field),
            "offset of {name}.{}",
            stringify!($field)
        );)+
    }};
}

/// Value modulo 2^64: bindgen keeps a macro's value in a signed 64-bit integer. `compile` has the C
/// compiler check the two constants that need the top bit.
macro_rules! same_constant {
    ($module:ident, $name:ident) => {
        assert_eq!(
            i128::from($module::$name) as u64,
            i128::from(bindings::$name) as u64,
            stringify!($name)
        )
    };
}

#[rustfmt::skip]
mod pairs;

#[test]
fn structs_have_the_same_layout() {
    pairs::structs();
}

#[test]
fn constants_have_the_same_value() {
    pairs::constants();
}
