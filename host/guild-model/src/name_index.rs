//! Finds items by name in a list that keeps the order of the file.

/// Positions in a list of named items, ascending by name. The list and the naming stay with the caller.
#[derive(Clone, Debug)]
pub(crate) struct NameIndex {
    positions: Vec<u32>,
}

impl NameIndex {
    /// Indexes `items`, of which there are fewer than 2^32, or returns a name that occurs twice.
    pub(crate) fn new<T>(items: &[T], name: impl Fn(&T) -> &str) -> Result<Self, String> {
        let mut named: Vec<(&str, u32)> = items.iter().map(name).zip(0..).collect();
        named.sort_unstable();
        for pair in named.windows(2) {
            if let [(first, _), (second, _)] = pair
                && first == second
            {
                return Err((*first).to_owned());
            }
        }
        Ok(Self {
            positions: named.into_iter().map(|(_, position)| position).collect(),
        })
    }

    /// The item called `wanted`. `items` and `name` are those that were indexed.
    pub(crate) fn find<'a, T>(
        &self,
        items: &'a [T],
        name: impl Fn(&T) -> &str,
        wanted: &str,
    ) -> Option<&'a T> {
        let item = |&position: &u32| items.get(position as usize);
        let found = self
            .positions
            .binary_search_by(|position| item(position).map_or("", &name).cmp(wanted));
        self.positions.get(found.ok()?).and_then(item)
    }
}
