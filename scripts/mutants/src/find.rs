//! The places of a source file where a small change is possible, found in its syntax tree.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Expr, Lit, Stmt, UnOp};

/// A change that is possible.
pub struct Candidate {
    /// The bytes that it replaces.
    pub start: usize,
    pub end: usize,
    pub line: usize,
    /// That line, without the white space around it.
    pub text_of_line: String,
    /// What is changed to what.
    pub what: String,
    /// The text with both versions, and the switch between them as `ON!`.
    pub switched: String,
}

/// All candidates of a file, except those in its tests and in code that the compiler evaluates.
pub fn candidates(text: &str) -> Vec<Candidate> {
    let file = syn::parse_file(text).expect("the sources parse");
    let mut finder = Finder { text, inside: 0, found: Vec::new() };
    finder.visit_file(&file);
    finder.found
}

struct Finder<'a> {
    text: &'a str,
    /// How many functions enclose the current node.
    inside: usize,
    found: Vec<Candidate>,
}

impl Finder<'_> {
    fn of(&self, node: &impl Spanned) -> String {
        self.text[node.span().byte_range()].to_owned()
    }

    /// Notes an expression and its replacement.
    fn expression(&mut self, node: &impl Spanned, mutated: &str) {
        let original = self.of(node);
        let switched = format!("(if ON! {{ {mutated} }} else {{ {original} }})");
        self.add(node, format!("{original} -> {mutated}"), switched);
    }

    fn add(&mut self, node: &impl Spanned, what: String, switched: String) {
        if self.inside == 0 {
            return;
        }
        let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
        let (range, line) = (node.span().byte_range(), node.span().start().line);
        let (start, end) = (range.start, range.end);
        let text_of_line = self.text.lines().nth(line - 1).unwrap_or_default().trim().to_owned();
        self.found.push(Candidate { start, end, line, text_of_line, what, switched });
    }

    fn function(
        &mut self,
        is_const: bool,
        attributes: &[Attribute],
        visit: impl FnOnce(&mut Self),
    ) {
        if is_const || attributes.iter().any(is_test) {
            return;
        }
        self.inside += 1;
        visit(self);
        self.inside -= 1;
    }
}

fn is_test(attribute: &Attribute) -> bool {
    let is_cfg_test = || {
        let mut test = false;
        let looked = attribute.parse_nested_meta(|meta| {
            test |= meta.path.is_ident("test");
            Ok(())
        });
        looked.is_ok() && test
    };
    attribute.path().is_ident("test") || attribute.path().is_ident("cfg") && is_cfg_test()
}

/// Another operator of the same type.
fn other(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Add(_) => "-",
        BinOp::Sub(_) => "+",
        BinOp::Mul(_) => "/",
        BinOp::Div(_) => "*",
        BinOp::Rem(_) => "/",
        BinOp::And(_) => "||",
        BinOp::Or(_) => "&&",
        BinOp::Eq(_) => "!=",
        BinOp::Ne(_) => "==",
        BinOp::Lt(_) => "<=",
        BinOp::Le(_) => "<",
        BinOp::Gt(_) => ">=",
        BinOp::Ge(_) => ">",
        BinOp::AddAssign(_) => "-=",
        BinOp::SubAssign(_) => "+=",
        BinOp::MulAssign(_) => "/=",
        BinOp::DivAssign(_) => "*=",
        _ => return None,
    })
}

/// Methods that can replace one another.
const METHODS: &[(&str, &str)] = &[
    ("min", "max"),
    ("max", "min"),
    ("any", "all"),
    ("all", "any"),
    ("is_some", "is_none"),
    ("is_none", "is_some"),
    ("is_some_and", "is_none_or"),
    ("is_none_or", "is_some_and"),
    ("first", "last"),
    ("last", "first"),
    ("starts_with", "ends_with"),
    ("ends_with", "starts_with"),
    ("plus", "minus"),
    ("saturating_add", "saturating_sub"),
    ("saturating_sub", "saturating_add"),
];

/// Whether a condition binds names, which only `if` and `while` can.
fn binds(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => binds(&binary.left) || binds(&binary.right),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !node.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, node);
        }
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.function(node.sig.constness.is_some(), &node.attrs, |finder| {
            visit::visit_block(finder, &node.block);
        });
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.function(node.sig.constness.is_some(), &node.attrs, |finder| {
            visit::visit_block(finder, &node.block);
        });
    }

    // Code that the compiler evaluates cannot be switched.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        self.visit_expr(&node.expr);
    }

    fn visit_stmt(&mut self, node: &'ast Stmt) {
        if let Stmt::Expr(expr, Some(_)) = node
            && let Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_) | Expr::Binary(_) = expr
        {
            let original = self.of(node);
            let switched = format!("if !ON! {{ {original} }}");
            self.add(node, format!("{original} -> (left out)"), switched);
        }
        visit::visit_stmt(self, node);
    }

    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        if let Some(op) = other(&node.op).filter(|_| !binds(&node.left) && !binds(&node.right)) {
            let mutated = format!("{} {op} {}", self.of(&node.left), self.of(&node.right));
            self.expression(node, &mutated);
        }
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        if matches!(node.op, UnOp::Not(_) | UnOp::Neg(_)) {
            let mutated = self.of(&node.expr);
            self.expression(node, &mutated);
        }
        visit::visit_expr_unary(self, node);
    }

    fn visit_expr_if(&mut self, node: &'ast syn::ExprIf) {
        if !binds(&node.cond) {
            let mutated = format!("!({})", self.of(&node.cond));
            self.expression(&node.cond, &mutated);
        }
        visit::visit_expr_if(self, node);
    }

    fn visit_expr_method_call(&mut self, node: &'ast syn::ExprMethodCall) {
        let name = node.method.to_string();
        if let Some((_, other)) = METHODS.iter().find(|(method, _)| *method == name) {
            let (start, method) = (node.span().byte_range().start, node.method.span().byte_range());
            let end = node.span().byte_range().end;
            let (before, after) = (&self.text[start..method.start], &self.text[method.end..end]);
            let mutated = format!("{before}{other}{after}");
            self.expression(node, &mutated);
        }
        visit::visit_expr_method_call(self, node);
    }

    fn visit_expr_lit(&mut self, node: &'ast syn::ExprLit) {
        let mutated = match &node.lit {
            Lit::Bool(flag) => (!flag.value).to_string(),
            Lit::Int(n) => match n.base10_parse::<u64>() {
                Ok(value) => format!("{}{}", value + 1, n.suffix()),
                Err(_) => return,
            },
            Lit::Float(n) => match n.base10_parse::<f64>() {
                Ok(value) => format!("{:?}{}", value + 1.0, n.suffix()),
                Err(_) => return,
            },
            _ => return,
        };
        self.expression(node, &mutated);
    }
}
