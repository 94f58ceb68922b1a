//! What formulas are read, and what is said of those that are not.

use super::*;

fn parse(text: &str) -> Result<Formula, FormulaError> {
    Formula::parse(text, &["p", "h", "block size"])
}

#[test]
fn reads_sums_of_terms() {
    let value = |text: &str, coefficients: &[f64]| {
        let formula = parse(text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(formula.unknowns().count(), coefficients.len(), "{text}");
        formula.value(coefficients, &[8.0, 3.0, 5.0])
    };
    assert_eq!(value("a + b*h + c*log2(p)", &[1.0, 10.0, 100.0]), 331.0);
    assert_eq!(value("(lambda + tau*h)*log2(p)", &[2.0, 10.0]), 96.0);
    assert_eq!(value("-a - b*(h - 1)^2/4", &[1.0, 3.0]), -4.0);
    assert_eq!(value("a*p + a*h", &[2.0]), 22.0);
    assert_eq!(value("2*(a/h)*'block size'", &[3.0]), 10.0);
    assert_eq!(value("a*sqrt(p*2) + b*1e-1", &[1.0, 10.0]), 5.0);
    assert_eq!(value("a*(-2^2)", &[1.0]), -4.0);
    assert_eq!(value("τ*h", &[2.0]), 6.0);
    assert_eq!(value("a*p^-1", &[4.0]), 0.5);
}

#[test]
fn equal_terms_are_found_equal() {
    let [message, pieces, tree] = broadcast_models();
    assert_eq!(message.unknowns[1].term, pieces.unknowns[1].term);
    assert_eq!(pieces.unknowns[0].term, tree.unknowns[0].term);
    assert_eq!(
        parse("8*h*tau").expect("a formula").unknowns,
        parse("tau*(8*h)").expect("a formula").unknowns
    );
}

#[test]
fn says_where_a_formula_fails() {
    for (text, at, part) in [
        ("", 1, "is expected"),
        ("a +", 4, "is expected"),
        ("a b", 3, "an operator"),
        ("a*(h", 3, "not closed"),
        ("a*'h", 3, "quote is not closed"),
        ("a*'hh'", 3, "no column 'hh'"),
        ("a*b*h", 3, "cannot be multiplied by another"),
        ("a/b", 3, "cannot be divided by"),
        ("a + log2(b)", 10, "cannot be within a function"),
        ("h^a", 3, "cannot be an exponent"),
        ("a^2", 1, "cannot be raised to a power"),
        ("a + 3*h", 5, "no unknown coefficient"),
        ("h", 1, "no unknown coefficient"),
        ("a*log(h)", 3, "no function 'log': log2"),
        ("a*2h", 3, "'2h' is not a number"),
        ("a*h + b*h", 7, "'a' and 'b' multiply the same term"),
        ("a+b*p+c*h+d*p^2+e*p^3+f*p^4+g*p^5+i*p^6+j*p^7", 41, "more than 8"),
        ("a $ b", 3, "an operator"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.to_string().contains(part), "{error}");
        assert_eq!(error.at(), at, "{error}");
    }
    assert!(parse(&"(".repeat(900)).expect_err("too deep").to_string().contains("within one another"));
    assert!(parse(&"-".repeat(900)).expect_err("too deep").to_string().contains("within one another"));
    assert!(parse(&"a".repeat(1001)).expect_err("too long").to_string().contains("at most"));
    assert!(parse(&format!("a*({}h)", "h+".repeat(490))).is_ok());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[abph2 +*/^().,'\"e-]{0,24}|.{0,12}") {
        if let Ok(formula) = parse(&text) {
            prop_assert!(formula.unknowns().count() > 0);
            let again = parse(formula.text()).expect("as it was");
            prop_assert_eq!(formula, again);
        }
    }
}
