//! A program that greets one user, whatever happens to it in between.
//!
//! ```sh
//! cargo run -p almanack-embed --example embedded -- sqlite:greetings.db
//! ```
//!
//! With `--hang`, its handler never ends: kill it, start it again without, and it goes on.

use std::{io, sync::Arc};

use almanack_embed::{Almanack, Attempt, Outcome, SignedDuration, Status};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

#[derive(Serialize, Deserialize)]
struct Welcome {
    name: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: embedded URL [--hang]")?;
    let hang = arguments.next().is_some();
    let greeted = Arc::new(Notify::new());
    let greeting = Arc::clone(&greeted);
    let greet = move |task: Attempt<Welcome>| {
        let greeting = Arc::clone(&greeting);
        async move {
            say(&format!("attempt {}: {}", task.attempt, task.payload.name));
            if hang {
                std::future::pending::<()>().await;
            }
            greeting.notify_one();
            Ok::<_, io::Error>(Outcome::done(format!("greeted {}", task.payload.name)))
        }
    };
    let almanack = Almanack::builder()
        .database(&url)
        .lease(SignedDuration::from_secs(3)) // short, to see another process take over soon
        .handler("WELCOME", greet)
        .start()
        .await?;
    match almanack.get("WELCOME", "user:9").await? {
        Some(task) if task.status == Status::Success => {
            say(&format!("already {}", task.detail.unwrap_or_default()));
        }
        Some(_) => greeted.notified().await,
        None => {
            let (name, now) = ("Ada".to_owned(), almanack.now());
            let welcome = Welcome { name };
            almanack.put("WELCOME", "user:9", now, &welcome).await?;
            greeted.notified().await;
        }
    }
    almanack.stop().await; // what came of it is written before this returns
    say("done");
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn say(line: &str) {
    println!("{line}");
}
