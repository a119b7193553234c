use super::*;

const DAY: i64 = 20_457;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn a_day_repeats_with_its_seed_and_another_seed_gives_another() {
    let day = |seed| Site::new(seed, 300).day(DAY);
    assert_eq!(day(1), day(1));
    assert_ne!(day(1), day(2));
}

#[test]
fn a_busy_day_is_in_order_and_reaches_both_its_edges() {
    let stories = Site::new(7, 1400).day(DAY);
    assert_eq!(stories.len(), 1400);
    let seconds: Vec<i64> = stories
        .iter()
        .map(|it| it.created_at.as_second() - DAY * DAY_S)
        .collect();
    assert!(seconds.is_sorted());
    assert_eq!(seconds[..2], [0, 0]);
    assert_eq!(seconds[1398..], [DAY_S - 1, DAY_S - 1]);
    assert!(stories.is_sorted_by_key(|it| it.id));
}

#[test]
fn even_the_smallest_days_stay_within_themselves() {
    for count in [0, 1, 2, 3, 5] {
        let stories = Site::new(7, count).day(DAY);
        assert_eq!(stories.len(), count as usize);
        assert!(stories.iter().all(|it| day_of(it.created_at) == DAY));
    }
}

#[test]
fn stories_are_as_uneven_as_real_ones() {
    let stories = Site::new(7, 1400).day(DAY);
    let count = |wanted: &dyn Fn(&Story) -> bool| stories.iter().filter(|it| wanted(it)).count();
    let share = |name: &str, seen: usize, least: usize, most: usize| {
        assert!((least..=most).contains(&seen), "{name}: {seen} of 1400");
    };
    share("null points", count(&|it| it.points.is_none()), 10, 60);
    share("text posts", count(&|it| it.link != Link::Page), 70, 160);
    share("silent", count(&|it| it.comments == 0), 350, 650);
    share(
        "nearly silent",
        count(&|it| (1..3).contains(&it.comments)),
        250,
        550,
    );
    share("loved", count(&|it| it.points > Some(400)), 3, 40);
    share("ignored", count(&|it| it.points < Some(5)), 700, 950);
}

#[test]
fn a_front_page_has_popular_stories_only() {
    let mut site = Site::new(7, 30);
    site.front_page = true;
    let stories = site.day(DAY);
    assert!(
        stories
            .iter()
            .all(|it| it.comments > 0 && it.points != Some(0))
    );
    let loved = stories.iter().filter(|it| it.points > Some(20)).count();
    assert!(loved > 24, "{loved} of 30");
}

#[test]
fn numbers_say_where_an_item_was_drawn_from() {
    let site = Site::new(7, 1400);
    let stories = site.day(DAY);
    let story = stories.iter().find(|it| it.comments > 3).unwrap();
    let comment = site.comment(story, 3);
    let place = Place::of(comment.id).unwrap();
    assert_eq!((place.day, place.comment), (DAY, 3));
    assert_eq!(stories[usize::try_from(place.index).unwrap()].id, story.id);
    assert_eq!(Place::of(ADDED_FROM), None);
    assert_eq!(Place::of(-1), None);
    let far = Site::new(7, STORIES_PER_DAY_MAX).day(day_of(at("2033-01-01T00:00:00Z")));
    let last = far.last().unwrap();
    assert!(last.id < ADDED_FROM, "{} must not collide", last.id);
    let next = Site::new(7, 1).day(day_of(at("2033-01-02T00:00:00Z")));
    assert!(last.id + PER_STORY <= next[0].id, "days must not overlap");
}

#[test]
fn comments_come_one_after_the_other_and_answer_only_earlier_ones() {
    let site = Site::new(7, 1400);
    let stories = site.day(DAY);
    let mut empty = 0;
    for story in stories.iter().filter(|it| it.comments > 10) {
        let comments: Vec<Comment> = (1..=story.comments)
            .map(|number| site.comment(story, number))
            .collect();
        assert!(comments.is_sorted_by_key(|it| it.created_at));
        assert!(comments[0].created_at > story.created_at);
        assert!(
            comments
                .iter()
                .all(|it| (story.id..it.id).contains(&it.parent_id))
        );
        empty += comments.iter().filter(|it| it.text.is_empty()).count();
    }
    assert!(
        empty > 10,
        "some comments say nothing, but only {empty} did"
    );
}
