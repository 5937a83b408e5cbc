//! Tests the rules against the rule-book move generator, published figures and `rsshogi`.

mod rsshogi;
mod rules;
