//! Reads one GraphQL operation: fields with arguments and selections, variables put in.
//!
//! No fragments, no directives, no block strings: a client that needs them needs more of GitHub
//! than this world has.

use std::{iter::Peekable, str::CharIndices};

use serde_json::{Map, Value};

/// Deepest nesting of values and selections.
const DEPTH_MAX: usize = 16;

/// Whether it asks or changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Query,
    Mutation,
}

impl Kind {
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Self::Query => "Query",
            Self::Mutation => "Mutation",
        }
    }
}

/// Line and column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

#[derive(Debug, PartialEq)]
pub(super) struct Operation {
    pub(super) kind: Kind,
    pub(super) fields: Vec<Field>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Field {
    pub(super) alias: String,
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    pub(super) selection: Vec<Field>,
    pub(super) at: Place,
}

/// Why a text is no operation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) message: String,
    pub(super) at: Place,
}

/// Reads an operation.
pub(super) fn operation(text: &str, variables: &Map<String, Value>) -> Result<Operation, Wrong> {
    let mut reader = Reader {
        text,
        rest: text.char_indices().peekable(),
        variables,
    };
    let kind = match reader.word().as_deref() {
        None | Some("query") => Kind::Query,
        Some("mutation") => Kind::Mutation,
        Some(other) => return Err(reader.wrong(&format!("Expected an operation, got {other}"))),
    };
    // An operation may have a name; nothing here needs it.
    reader.word();
    if reader.takes('(') {
        reader.skip_declarations()?;
    }
    let fields = reader.selection(0)?;
    match reader.peek() {
        None => Ok(Operation { kind, fields }),
        Some(_) => Err(reader.wrong("Expected one operation only")),
    }
}

struct Reader<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
    variables: &'a Map<String, Value>,
}

impl Reader<'_> {
    /// The next character that means something.
    fn peek(&mut self) -> Option<char> {
        while let Some((_, next)) = self.rest.peek().copied() {
            match next {
                '#' => while self.rest.next_if(|(_, it)| *it != '\n').is_some() {},
                ',' | '\u{feff}' => drop(self.rest.next()),
                blank if blank.is_whitespace() => drop(self.rest.next()),
                _ => return Some(next),
            }
        }
        None
    }

    fn place(&mut self) -> Place {
        let end = self.rest.peek().map_or(self.text.len(), |(at, _)| *at);
        let before = &self.text[..end];
        let column = before.chars().rev().take_while(|it| *it != '\n').count();
        Place {
            line: 1 + before.matches('\n').count(),
            column: 1 + column,
        }
    }

    fn wrong(&mut self, message: &str) -> Wrong {
        Wrong {
            message: format!("Parse error: {message}"),
            at: self.place(),
        }
    }

    /// Takes this character if it comes next.
    fn takes(&mut self, wanted: char) -> bool {
        let comes = self.peek() == Some(wanted);
        if comes {
            self.rest.next();
        }
        comes
    }

    fn insist(&mut self, wanted: char) -> Result<(), Wrong> {
        if self.takes(wanted) {
            Ok(())
        } else {
            Err(self.wrong(&format!("Expected \"{wanted}\"")))
        }
    }

    /// Takes a name if one comes next.
    fn word(&mut self) -> Option<String> {
        self.peek();
        let part = |(_, it): &(usize, char)| it.is_ascii_alphanumeric() || *it == '_';
        let mut word = String::new();
        while let Some((_, next)) = self.rest.next_if(part) {
            word.push(next);
        }
        (!word.is_empty()).then_some(word)
    }

    fn name(&mut self) -> Result<String, Wrong> {
        let word = self.word();
        word.ok_or_else(|| self.wrong("Expected a name"))
    }

    /// Types of variables are not checked: the values say what they are.
    fn skip_declarations(&mut self) -> Result<(), Wrong> {
        while let Some(next) = self.peek() {
            self.rest.next();
            if next == ')' {
                return Ok(());
            }
        }
        Err(self.wrong("Expected \")\""))
    }

    fn selection(&mut self, depth: usize) -> Result<Vec<Field>, Wrong> {
        self.insist('{')?;
        if depth > DEPTH_MAX {
            return Err(self.wrong("Too deep"));
        }
        let mut fields = Vec::new();
        while !self.takes('}') {
            fields.push(self.field(depth)?);
        }
        Ok(fields)
    }

    fn field(&mut self, depth: usize) -> Result<Field, Wrong> {
        self.peek();
        let at = self.place();
        let alias = self.name()?;
        let name = if self.takes(':') {
            self.name()?
        } else {
            alias.clone()
        };
        let arguments = if self.takes('(') {
            self.pairs(')', depth)?
        } else {
            Map::new()
        };
        let selection = match self.peek() {
            Some('{') => self.selection(depth + 1)?,
            _ => Vec::new(),
        };
        Ok(Field {
            alias,
            name,
            arguments,
            selection,
            at,
        })
    }

    fn pairs(&mut self, end: char, depth: usize) -> Result<Map<String, Value>, Wrong> {
        let mut pairs = Map::new();
        while !self.takes(end) {
            let name = self.name()?;
            self.insist(':')?;
            pairs.insert(name, self.value(depth + 1)?);
        }
        Ok(pairs)
    }

    fn value(&mut self, depth: usize) -> Result<Value, Wrong> {
        if depth > DEPTH_MAX {
            return Err(self.wrong("Too deep"));
        }
        match self.peek() {
            Some('$') => {
                self.rest.next();
                let name = self.name()?;
                Ok(self.variables.get(&name).cloned().unwrap_or(Value::Null))
            }
            Some('{') => {
                self.rest.next();
                Ok(Value::Object(self.pairs('}', depth)?))
            }
            Some('[') => {
                self.rest.next();
                let mut list = Vec::new();
                while !self.takes(']') {
                    list.push(self.value(depth + 1)?);
                }
                Ok(Value::Array(list))
            }
            Some('"') => self.string(),
            _ => self.scalar(),
        }
    }

    /// GraphQL's strings are written as JSON's are.
    fn string(&mut self) -> Result<Value, Wrong> {
        let start = self.rest.next().map_or(0, |(at, _)| at);
        let mut escaped = false;
        while let Some((at, next)) = self.rest.next() {
            if next == '"' && !escaped {
                let read = serde_json::from_str(&self.text[start..=at]);
                return read.map_err(|_| self.wrong("Bad string"));
            }
            escaped = next == '\\' && !escaped;
        }
        Err(self.wrong("Unterminated string"))
    }

    /// Numbers and words; the words that mean something in JSON mean the same here.
    fn scalar(&mut self) -> Result<Value, Wrong> {
        let minus = self.takes('-');
        let word = self.name()?;
        let text = if minus { format!("-{word}") } else { word };
        Ok(serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str, variables: &Value) -> Result<Operation, Wrong> {
        operation(text, variables.as_object().unwrap())
    }

    #[test]
    fn variables_and_literals_mean_the_same() {
        let literal = "query { repository(owner: \"o\", name: \"a \\\"b\\\"\") { id } }";
        let variables = json!({ "owner": "o", "name": "a \"b\"" });
        let text = "query Find($owner: String!, $name: String!) {\n  # comment\n  \
                    it: repository(owner: $owner, name: $name) { id }\n}";
        let first = read(literal, &json!({})).unwrap();
        let second = read(text, &variables).unwrap();
        assert_eq!(first.fields[0].arguments, second.fields[0].arguments);
        assert_eq!((first.kind, second.kind), (Kind::Query, Kind::Query));
        assert_eq!(
            (&*second.fields[0].alias, &*second.fields[0].name),
            ("it", "repository")
        );
        assert_eq!(second.fields[0].at, Place { line: 3, column: 3 });
    }

    #[test]
    fn objects_and_lists_are_read_as_they_stand() {
        let text = "mutation { updateRefs(input: {repositoryId: \"R\", refUpdates: \
                    [{name: \"refs/tags/a\", force: true, n: -3}, {name: $x}]}) { clientMutationId } }";
        let read = read(text, &json!({ "x": "refs/tags/b" })).unwrap();
        assert_eq!(read.kind, Kind::Mutation);
        let expected = json!({ "repositoryId": "R", "refUpdates": [
            { "name": "refs/tags/a", "force": true, "n": -3 },
            { "name": "refs/tags/b" },
        ]});
        assert_eq!(read.fields[0].arguments["input"], expected);
    }

    #[test]
    fn what_is_no_operation_is_refused_with_its_place() {
        for (text, line, column) in [
            ("", 1, 1),
            ("query {", 1, 8),
            ("query { a(b: ) }", 1, 14),
            ("query { a(b: \"c) }", 1, 19),
            ("subscription { a }", 1, 13),
            ("{ a }\n{ b }", 2, 1),
        ] {
            let wrong = read(text, &json!({})).unwrap_err();
            assert_eq!(
                wrong.at,
                Place { line, column },
                "{text}: {}",
                wrong.message
            );
        }
    }
}
