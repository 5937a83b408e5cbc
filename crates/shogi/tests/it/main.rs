//! The rules: against plain ones, published figures and `rsshogi`.

mod rsshogi;
mod rules;
