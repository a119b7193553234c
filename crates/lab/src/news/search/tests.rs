use proptest::prelude::*;

use super::*;

fn parse(tags: &str, filters: &str) -> Result<Query, Error> {
    Query::parse(&Parameters {
        tags: tags.to_owned(),
        numeric_filters: filters.to_owned(),
        ..Parameters::default()
    })
}

const STORY: Sight<'_> = Sight {
    is_comment: false,
    story_id: 40,
    author: "tern11",
    created_at_s: 1000,
    points: Some(7),
    comments: 3,
    text: "Show HN: A clock",
};
const COMMENT: Sight<'_> = Sight {
    is_comment: true,
    points: None,
    comments: 0,
    text: "It keeps time",
    ..STORY
};

#[test]
fn tags_are_joined_by_and_outside_and_by_or_inside_parentheses() {
    for (tags, story, comment) in [
        ("", true, true),
        ("story", true, false),
        ("comment", false, true),
        ("story_40", true, true),
        ("story,story_40", true, false),
        ("comment,story_40", false, true),
        ("comment,story_80", false, false),
        ("(story,comment)", true, true),
        ("story,(story_40,story_80)", true, false),
        ("(story_80,story_120)", false, false),
        ("(story_40,story_80),comment", false, true),
        (" story , ( story_40 , story_80 ) ", true, false),
        ("author_tern11", true, true),
        ("author_tern", false, false),
        ("show_hn", true, false),
        ("ask_hn", false, false),
        ("poll", false, false),
        ("story_", false, false),
    ] {
        let query = parse(tags, "").unwrap();
        assert_eq!(
            (query.finds(STORY), query.finds(COMMENT)),
            (story, comment),
            "{tags}"
        );
    }
}

#[test]
fn tags_that_do_not_end_or_nest_are_refused() {
    for tags in ["(story", "story,((a),b)", "(a)b", "a)"] {
        let refused = parse(tags, "");
        assert_eq!(refused, Err(Error::Tags(tags.to_owned())), "{tags}");
    }
}

#[test]
fn filters_compare_exactly_and_never_pass_what_is_not_known() {
    for (filters, story, comment) in [
        ("created_at_i>999", true, true),
        ("created_at_i>1000", false, false),
        ("created_at_i>=1000,created_at_i<=1000", true, true),
        ("created_at_i<1000", false, false),
        ("created_at_i=1000", true, true),
        ("created_at_i>0, created_at_i<2000, points>6", true, false),
        ("points>=0", true, false),
        ("points<100", true, false),
        ("num_comments>2", true, false),
    ] {
        let query = parse("", filters).unwrap();
        assert_eq!(
            (query.finds(STORY), query.finds(COMMENT)),
            (story, comment),
            "{filters}"
        );
    }
}

#[test]
fn filters_without_sense_are_refused() {
    for filter in [
        "created_at_i",
        "created_at_i>",
        "age>3",
        "points=>3",
        "points>x",
    ] {
        let refused = parse("", filter);
        assert_eq!(refused, Err(Error::Filter(filter.to_owned())), "{filter}");
    }
    let parameters = Parameters {
        hits_per_page: Some("many".to_owned()),
        ..Parameters::default()
    };
    let refused = Query::parse(&parameters);
    assert_eq!(refused, Err(Error::Number("hitsPerPage")));
}

#[test]
fn a_query_knows_what_it_cannot_find() {
    let query = parse(
        "story,(story_40,story_80)",
        "created_at_i>9,created_at_i<=20",
    )
    .unwrap();
    assert_eq!(query.stories(), Some(vec![40, 80]));
    assert_eq!(query.span_s(), (10, 20));
    assert!(query.wants(&Tag::Story) && !query.wants(&Tag::Comment));
    let open = parse("(story_40,author_tern11)", "").unwrap();
    assert_eq!(open.stories(), None, "the author may have written others");
    assert!(open.wants(&Tag::Story) && open.wants(&Tag::Comment));
}

fn paged(hits_per_page: usize, page: usize) -> Query {
    Query {
        hits_per_page,
        page,
        ..parse("", "").unwrap()
    }
}

#[test]
fn nothing_past_the_thousandth_hit_can_be_reached() {
    for (hits, per_page, page, pages, from, until) in [
        (1400, 1000, 0, 1, 0, 1000),
        (1400, 1000, 1, 1, 1000, 1000),
        (1400, 300, 3, 4, 900, 1000),
        (1400, 300, 4, 4, 1000, 1000),
        (25, 20, 1, 2, 20, 25),
        (0, 20, 0, 0, 0, 0),
        (1400, 0, 3, 0, 0, 0),
        (1400, 20, usize::MAX, 50, 1000, 1000),
    ] {
        let cut = paged(per_page, page).cut(hits);
        let expected = Cut {
            hits,
            pages,
            from,
            until,
        };
        assert_eq!(cut, expected, "{hits} hits, page {page} of {per_page}");
    }
}

proptest! {
    #[test]
    fn pages_show_each_reachable_hit_once(hits in 0_usize..3000, per_page in 1_usize..=1000) {
        let mut next = 0;
        for page in 0..paged(per_page, 0).cut(hits).pages {
            let cut = paged(per_page, page).cut(hits);
            prop_assert_eq!(cut.from, next);
            prop_assert!(cut.until > cut.from);
            next = cut.until;
        }
        prop_assert_eq!(next, hits.min(REACHABLE));
    }

    #[test]
    fn the_span_never_excludes_a_hit(at in -50_i64..50, bounds in proptest::collection::vec((0_usize..5, -50_i64..50), 0..4)) {
        let filters: Vec<String> = bounds
            .iter()
            .map(|(sign, value)| format!("created_at_i{}{value}", ["<", "<=", "=", ">=", ">"][*sign]))
            .collect();
        let query = parse("", &filters.join(",")).unwrap();
        let (from, to) = query.span_s();
        let found = query.finds(Sight { created_at_s: at, ..STORY });
        prop_assert_eq!(found, (from..=to).contains(&at));
    }

    #[test]
    fn whatever_is_asked_is_answered(tags in ".{0,30}", filters in ".{0,30}") {
        let _ = parse(&tags, &filters);
    }
}
