//! What operators write about schedules: what is refused, and what reaches whom.

use std::{collections::BTreeSet, net::IpAddr, sync::Arc};

use almanack_core::{
    address::{Guard, Names, Origin as WebOrigin, Reach, parse},
    plan::{Definition, Edited, Origin, Pings, Unfit},
    target::Target,
};
use almanack_engine::{
    reloadable::Reloadable,
    schedules::{Error, Schedules},
    zones::Zones,
};
use async_trait::async_trait;

use crate::fixture::{Fixture, hourly, on_both};

on_both!(
    dp_17_what_would_never_fire_is_refused_and_what_is_over_stays,
    dp_11_a_name_that_leads_inside_is_refused_as_a_call_would_be,
);

fn of_year(year: u16) -> Definition {
    Definition {
        expression: format!("0 0 0 1 1 * {year}"),
        ..hourly()
    }
}

async fn dp_17_what_would_never_fire_is_refused_and_what_is_over_stays(fixture: Fixture) {
    let refused = fixture.put(of_year(2020)).await;
    assert!(
        matches!(refused, Err(Error::Unfit(Unfit::Past { .. }))),
        "{refused:?}"
    );
    let in_file = fixture
        .schedules
        .put(&fixture.nightly, of_year(2020), Origin::File, "ada");
    let kept = in_file.await.unwrap();
    assert_eq!(
        kept.edited,
        Some(Edited::Created),
        "a file may name what is over"
    );
    fixture
        .schedules
        .remove(&fixture.nightly, "ada")
        .await
        .unwrap();
    assert_eq!(
        fixture.put(of_year(2030)).await.unwrap(),
        Some(Edited::Created)
    );
    fixture.clock.set("2031-01-01T00:00:00Z".parse().unwrap());
    assert_eq!(
        fixture.put(of_year(2030)).await.unwrap(),
        None,
        "no change is no refusal"
    );
    let again = fixture.put(of_year(2029)).await;
    assert!(
        matches!(again, Err(Error::Unfit(Unfit::Past { .. }))),
        "{again:?}"
    );
}

/// Knows one name, which leads inside.
struct OneName;

#[async_trait]
impl Names for OneName {
    async fn behind(&self, address: &str) -> Vec<IpAddr> {
        let inside = address.contains("intranet");
        inside.then(|| [10, 0, 0, 7].into()).into_iter().collect()
    }
}

async fn dp_11_a_name_that_leads_inside_is_refused_as_a_call_would_be(fixture: Fixture) {
    let (store, clock) = (fixture.store.clone(), fixture.clock.clone());
    let schedules = Schedules::new(store, clock, Arc::new(Zones::default()));
    let guard = Guard::new(Vec::new(), "outbound.allow");
    let own = parse("http://own.intranet.example/").unwrap();
    let trusted = BTreeSet::from_iter(WebOrigin::of(&own));
    let reach = Reloadable::new(Reach::new(guard, trusted));
    let schedules = schedules.reaching(reach).resolving(Arc::new(OneName));
    let inside = Definition::new("@hourly", Target::webhook("http://intranet.example/x"));
    let put = schedules.put(&fixture.nightly, inside.clone(), Origin::Api, "ada");
    let refused = put.await.unwrap_err().to_string();
    let expected = "target.url would never be called: 10.0.0.7 is a private network address, \
                    and only public addresses are called";
    assert!(refused.starts_with(expected), "{refused}");
    let pinging = Definition {
        pings: Pings {
            failure: Some("http://intranet.example/x".to_owned()),
            ..Pings::default()
        },
        ..Definition::new("@hourly", Target::webhook("http://own.intranet.example/x"))
    };
    let put = schedules.put(&fixture.nightly, pinging, Origin::Api, "ada");
    let refused = put.await.unwrap_err().to_string();
    let expected = "pings.failure would never be called: 10.0.0.7";
    assert!(refused.starts_with(expected), "{refused}");
    let own = schedules.put(&fixture.nightly, inside, Origin::File, "ada");
    assert!(own.await.is_ok(), "the operator's own file is trusted");
    schedules.remove(&fixture.nightly, "ada").await.unwrap();
    let trusted = Definition::new("@hourly", Target::webhook("http://own.intranet.example/x"));
    let put = schedules.put(&fixture.nightly, trusted, Origin::Api, "ada");
    assert!(put.await.is_ok(), "and so are the origins that it names");
}
