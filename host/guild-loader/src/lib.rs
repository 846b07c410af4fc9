//! Maps verified packages, negotiates with them and keeps leases.
