//! Who is told how far an analysis is.

/// Follows an analysis: each method does nothing unless it is written.
pub trait Watch: Sync {
    /// A stage of unknown length begins; it ends when the bar is dropped.
    fn spinner(&self, _what: &'static str) -> Box<dyn Bar> {
        Box::new(Silent)
    }

    /// A stage that is measured in bytes begins; it ends when the bar is
    /// dropped.
    fn bytes(&self, _what: &'static str) -> Box<dyn Bar> {
        Box::new(Silent)
    }

    /// News that the analyst must know before the result.
    fn say(&self, _news: &str) {}

    /// A detail, for who asks for more.
    fn tell(&self, _detail: &str) {}
}

/// A running stage.
pub trait Bar: Sync {
    /// `done` of `total` are done.
    fn set(&self, _done: u64, _total: u64) {}
}

/// Follows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Watch for Silent {}

impl Bar for Silent {}

/// Follows as another does, but what is news of a part is for the whole to tell.
pub(crate) struct Hushed<'a>(pub(crate) &'a dyn Watch);

impl Watch for Hushed<'_> {
    fn spinner(&self, what: &'static str) -> Box<dyn Bar> {
        self.0.spinner(what)
    }

    fn bytes(&self, what: &'static str) -> Box<dyn Bar> {
        self.0.bytes(what)
    }

    fn tell(&self, detail: &str) {
        self.0.tell(detail);
    }
}
