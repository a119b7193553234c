//! A walk through five pages of the dashboard: where to look and at what, a page for each Enter.

use std::{io::BufRead as _, net::SocketAddr, thread};

use almanack_adapters::alert::Language;
use tokio::sync::mpsc;

use crate::{
    failure::Result,
    output::{Ink, Output},
};

/// A page: its name, its path, and what to look at; each text in English and Chinese.
struct Step {
    name: [&'static str; 2],
    path: &'static str,
    look: [&'static str; 2],
}

const STEPS: [Step; 5] = [
    Step {
        name: ["Today", "今天"],
        path: "/ui",
        look: [
            "The ribbon is a day: every slot of every schedule, what fired, what was skipped, what \
             comes next. Above it is what needs attention.",
            "色带就是一天：每个日程的每个时刻，哪些触发了、哪些跳过了、接下来是什么。上方是需要关注的事项。",
        ],
    },
    Step {
        name: ["A schedule", "一个日程"],
        path: "/ui/schedules/archive",
        look: [
            "`archive` takes longer than its interval. Every slot fired once or has the reason why \
             not: here, overlap.",
            "archive 的运行时间比间隔长。每个时刻要么触发一次，要么记录未触发的原因：这里是重叠。",
        ],
    },
    Step {
        name: ["Sources", "信源"],
        path: "/ui/sources",
        look: [
            "Forty feeds, each checked when it is likely to have something new. Open one: it says \
             what was learned and why the next check is when it is.",
            "四十个订阅源，各在最可能有更新时检查。打开其中一个，可以看到学到的规律和下次检查的理由。",
        ],
    },
    Step {
        name: ["Editions", "日报"],
        path: "/ui/editions",
        look: [
            "A digest that is read, translated and summarized in batches, then published once to \
             every destination. Open today's to follow it.",
            "一份分批阅读、翻译、摘要，并向每个目的地各发布一次的汇编。打开今天的一期，看它如何完成。",
        ],
    },
    Step {
        name: ["Tasks", "任务"],
        path: "/ui/tasks?kind=ARTICLE_PUBLISH",
        look: [
            "Authors move publications, some of them during the attempt. Open a task: every change \
             is there, with the rule that decided it.",
            "作者们不断改期，有时正值发布进行之中。打开一个任务：每次变更和所依据的规则都在那里。",
        ],
    },
];

/// A tour under way.
pub(super) struct Tour {
    address: SocketAddr,
    language: Language,
    /// The step to print next.
    next: usize,
    enters: mpsc::UnboundedReceiver<()>,
}

impl Tour {
    /// Starts to listen for Enter.
    pub(super) fn start(address: SocketAddr, language: Language) -> Self {
        let (pressed, enters) = mpsc::unbounded_channel();
        // A thread that nobody waits for: a read of the terminal cannot be interrupted.
        thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                if line.is_err() || pressed.send(()).is_err() {
                    return;
                }
            }
        });
        Self {
            address,
            language,
            next: 0,
            enters,
        }
    }

    /// Waits for Enter. Without a terminal or a pipe to press it at, no step waits.
    pub(super) async fn pressed(&mut self) {
        let _ = self.enters.recv().await;
    }

    /// Prints the next step; returns whether there was one.
    pub(super) fn step(&mut self, output: &mut Output) -> Result<bool> {
        let pick = |[english, chinese]: [&'static str; 2]| self.language.choose(english, chinese);
        let Some(step) = STEPS.get(self.next) else {
            let end = [
                "That was the tour. The demo goes on; press Ctrl-C to stop.\n",
                "导览到此结束，演示仍在继续；按 Ctrl-C 停止。\n",
            ];
            output.line(pick(end))?;
            output.flush()?;
            return Ok(false);
        };
        self.next += 1;
        let (number, all) = (self.next, STEPS.len());
        let head = format!("{number}/{all}  {}", pick(step.name));
        let head = output.paint(Ink::Good, &head);
        output.line(&format!("{head}  http://{}{}", self.address, step.path))?;
        output.line(&format!("     {}", pick(step.look)))?;
        let enter = ["     Press Enter to go on.\n", "     按回车键继续。\n"];
        let enter = output.paint(Ink::Faint, pick(enter));
        output.line(&enter)?;
        output.flush()?;
        Ok(true)
    }
}
